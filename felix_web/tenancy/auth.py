"""From a credential to a principal. What cannot be told is nobody."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils import timezone

from felix_web.common.errors import Unauthenticated
from felix_web.tenancy.models import ApiKey, Membership, Role, User
from felix_web.tenancy.principal import ROLE_SCOPES, Principal, cut_to_role
from felix_web.tenancy.scoping import system_snapshot
from felix_web.tenancy.services import hash_secret


def member_principal(member: Membership) -> Principal:
    """Return a signed-in member as a principal."""
    return Principal(
        tenant_id=member.tenant_id,
        tenant_slug=member.tenant.slug,
        name=member.user.get_username(),
        scopes=ROLE_SCOPES[member.role],
        member_id=member.pk,
        role=member.role,
        via="panel",
    )


def _key_principal(key: ApiKey) -> Principal:
    anonymous = Principal(
        tenant_id=key.tenant_id,
        tenant_slug=key.tenant.slug,
        name=f"key {key.name}",
        scopes=frozenset(key.scopes),
        key_id=key.pk,
        expires_at=key.expires_at,
    )
    if key.owner is None:
        return anonymous
    return replace(
        anonymous,
        name=key.owner.user.get_username(),
        scopes=cut_to_role(anonymous.scopes, key.owner.role),
        member_id=key.owner_id,
        role=key.owner.role,
    )


def _is_live(key: ApiKey) -> bool:
    if key.revoked_at is not None or (
        key.expires_at is not None and key.expires_at <= timezone.now()
    ):
        return False
    return key.owner is None or (key.owner.removed_at is None and key.owner.user.is_active)


def principal_of_key(secret: str) -> Principal:
    """Return the principal of an API key.

    Raises:
        Unauthenticated: the key is unknown, revoked or lapsed, or its owner has left; one answer
            for all of these.
    """
    with system_snapshot():
        key = (
            ApiKey.objects.select_related("tenant", "owner__user")
            .filter(secret_sha256=hash_secret(secret))
            .first()
        )
    if key is None or not _is_live(key):
        raise Unauthenticated("The key is not valid.")
    return _key_principal(key)


def local_principal() -> Principal:
    """Return who everybody is where FELIX_AUTH_MODE is `none`: the first admin of the tenant
    `default`.

    Raises:
        Unauthenticated: that tenant has no admin.
    """
    with system_snapshot():
        member = (
            Membership.objects.select_related("tenant", "user")
            .filter(tenant__slug="default", role=Role.ADMIN, removed_at=None, user__is_active=True)
            .order_by("pk")
            .first()
        )
    if member is None:
        raise Unauthenticated("Nobody is an admin of the tenant default: felix user create.")
    return replace(member_principal(member), via="api")


def memberships_of(user: User) -> list[Membership]:
    """Return the person's present memberships, oldest first."""
    with system_snapshot():
        return list(
            Membership.objects.select_related("tenant", "user")
            .filter(user=user, removed_at=None)
            .order_by("pk")
        )


def members_who_may_not_send() -> QuerySet[Membership]:
    """Return the members who left, were shut out, or may only look: nobody's run goes on for them.

    `present_authority` and `Principal.may_send` say the same of one principal.
    """
    return Membership.objects.filter(
        Q(removed_at__isnull=False) | Q(user__is_active=False) | Q(role=Role.VIEWER)
    )


def keys_that_may_not_send(now: datetime) -> QuerySet[ApiKey]:
    """Return the keys that were revoked or have lapsed, and those of such members."""
    return ApiKey.objects.filter(
        Q(revoked_at__isnull=False)
        | Q(expires_at__lte=now)
        | Q(owner__in=members_who_may_not_send())
    )


def present_authority(
    *, member_id: int | None, key_id: int | None, scopes: frozenset[str]
) -> Principal | None:
    """Return the starter of a run as it stands now, cut to the scopes it started with.

    None where it is gone.

    A run keeps its starter's authority, and each claim intersects it with the present (decisions
    3.11).
    """
    if key_id is not None:
        key = ApiKey.objects.select_related("tenant", "owner__user").filter(pk=key_id).first()
        now = None if key is None or not _is_live(key) else _key_principal(key)
    else:
        member = (
            Membership.objects.select_related("tenant", "user")
            .filter(pk=member_id or 0, removed_at=None, user__is_active=True)
            .first()
        )
        now = None if member is None else member_principal(member)
    if now is None:
        return None
    if "*" in scopes:
        return now
    kept = scopes if "*" in now.scopes else scopes & now.scopes
    return replace(now, scopes=kept)
