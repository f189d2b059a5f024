"""Keys under which a message is sent at most once (L10)."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from felix_web.tenancy.models import TenantOwned
from sessions.models.run import Run


class IdempotencyKey(TenantOwned):
    """A key of a principal, written with the run and its first event, or not at all."""

    principal = models.CharField(max_length=40)
    space = models.CharField(max_length=12)
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+", null=True)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "principal", "space", "key"],
                name="idempotency_key_once_per_principal",
            )
        ]

    def __str__(self) -> str:
        return f"{self.principal}/{self.space}/{self.key}"
