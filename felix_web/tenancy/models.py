"""Tenants, the people in them, and the keys of their programs."""

from __future__ import annotations

from typing import Self, TypeVar

from django.contrib.auth.models import AbstractUser
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

SLUG = RegexValidator(
    r"\A[a-z0-9][a-z0-9-]{0,62}\Z", "Lower-case letters, digits and hyphens, at most 63."
)


class User(AbstractUser):
    """A person who can sign in. What they may do is said by their memberships."""

    has_one_time_password = models.BooleanField(
        default=False,
        help_text="The password was printed by a command; signing in asks for a new one.",
    )


class Tenant(models.Model):
    """A team with its own threads, agents, keys and reviewers."""

    slug = models.CharField(max_length=63, unique=True, validators=[SLUG])
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.slug


Row = TypeVar("Row", bound=models.Model, covariant=True)


class TenantQuerySet(models.QuerySet[Row]):
    """Rows of tenants; a reader always says of which one."""

    def for_tenant(self, tenant_id: int) -> Self:
        """Return the rows of this tenant."""
        return self.filter(tenant_id=tenant_id)


class TenantOwned(models.Model):
    """A row that belongs to one tenant and is reached inside `tenant_scope` only."""

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)

    objects = TenantQuerySet.as_manager()

    class Meta:
        abstract = True


class Role(models.TextChoices):
    """What a member may do; each role may do what the ones before it may."""

    VIEWER = "viewer", "Viewer"  # reads threads and gates
    OPERATOR = (
        "operator",
        "Operator",
    )  # starts and stops runs, decides gates of own threads where the rule lets
    REVIEWER = "reviewer", "Reviewer"  # decides gates
    ADMIN = "admin", "Admin"  # manages manifests, members and keys


class Membership(TenantOwned):
    """A person in a tenant. Decisions and quorums count memberships."""

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role.choices)
    created_at = models.DateTimeField(db_default=Now())
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user"], name="one_membership_per_person"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id}@{self.tenant_id}:{self.role}"


class ApiKey(TenantOwned):
    """A program's credential. Only the SHA-256 of the secret is stored.

    A key without an owner is its own principal; it can meet no quorum above 1 and no `allow_self:
    false`.
    """

    owner = models.ForeignKey(
        Membership, on_delete=models.PROTECT, null=True, blank=True, related_name="keys"
    )
    name = models.CharField(max_length=100)
    shown_start = models.CharField(
        max_length=12, help_text="The first characters, to tell keys apart."
    )
    secret_sha256 = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="one_key_per_name")]

    def __str__(self) -> str:
        return f"{self.shown_start}… {self.name}"
