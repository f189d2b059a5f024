"""Manifests and their immutable versions."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from felix_web.tenancy.models import TenantOwned


class Manifest(TenantOwned):
    """A named agent of a tenant; archived, never deleted. A new run takes `live_version`."""

    name = models.CharField(max_length=128)
    live_version = models.IntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="one_manifest_per_name")
        ]

    def __str__(self) -> str:
        return self.name


class ManifestVersion(TenantOwned):
    """One version, as it was written; runs point to it by name and number. Never changed."""

    manifest = models.ForeignKey(Manifest, on_delete=models.PROTECT, related_name="versions")
    number = models.IntegerField()
    content_hash = models.CharField(max_length=64)
    text = models.TextField()
    document = models.JSONField()
    comment = models.CharField(max_length=500, blank=True)
    created_by = models.CharField(max_length=200, blank=True)
    is_bundled = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["manifest", "number"], name="version_number_once_per_manifest"
            )
        ]

    def __str__(self) -> str:
        return f"{self.manifest_id}@{self.number}"
