"""What each model request cost, and which prompt prefix it carried (L11)."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from felix_web.tenancy.models import TenantOwned
from sessions.models.run import Run


class ModelRequest(TenantOwned):
    """One answered request to a model. The price is fixed when it is written.

    None means it is not known.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+", db_index=False)
    at = models.DateTimeField(db_default=Now())
    model = models.CharField(max_length=200)
    request_class = models.CharField(max_length=16)
    prefix_digest = models.CharField(max_length=64)
    input_tokens = models.IntegerField()
    output_tokens = models.IntegerField()
    cache_read_tokens = models.IntegerField()
    cache_write_tokens = models.IntegerField()
    cost_usd_micros = models.BigIntegerField(null=True)
    is_certain = models.BooleanField()
    took_ms = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["tenant", "-id"], name="requests_newest_first")]

    def __str__(self) -> str:
        return f"{self.run_id} {self.model}"
