"""The append-only trail.

Rows are written in the transaction of the act and linked into a chain later.
"""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from felix_web.tenancy.models import TenantOwned


class AuditEvent(TenantOwned):
    """Who did what to which object, and how it ended."""

    at = models.DateTimeField(db_default=Now())
    act = models.CharField(max_length=48)
    actor = models.CharField(max_length=200, blank=True)
    run_id = models.CharField(max_length=32, blank=True)
    subject = models.CharField(max_length=200, blank=True)
    facts = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["tenant", "-id"], name="audit_newest_first")]

    def __str__(self) -> str:
        return f"{self.act} {self.subject}"
