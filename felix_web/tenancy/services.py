"""Writes of the tenancy: tenants, members, keys."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from felix_web.common.errors import FelixError, InvalidInput, NotFound
from felix_web.common.ids import new_secret
from felix_web.tenancy.models import SLUG, ApiKey, Membership, Role, Tenant, User
from felix_web.tenancy.scopes import known_scopes
from felix_web.tenancy.scoping import database_now, system_scope, tenant_scope

RESERVED = frozenset({"deployment"})  # the folder of the deployment's own workspace
READABLE = "abcdefghjkmnpqrstuvwxyz23456789"
LONGEST_USERNAME = 150
LONGEST_KEY_NAME = 100


class AlreadyExists(FelixError):
    """Something with this name exists already."""

    code = "already_exists"
    title = "Already exists"


def hash_secret(secret: str) -> str:
    """Return what is stored of a secret of 256 random bits.

    Its SHA-256 (no salt or stretching is needed for those).
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def one_time_password() -> str:
    """Return a password to type once: four groups of four, about 79 bits."""
    return "-".join("".join(secrets.choice(READABLE) for _ in range(4)) for _ in range(4))


def create_tenant(*, slug: str, name: str = "") -> Tenant:
    """A tenant with this slug exists.

    Raises:
        InvalidInput: the slug is not lower-case letters, digits and hyphens.
        AlreadyExists: there is one with this slug.
    """
    if slug in RESERVED:
        raise InvalidInput(f"The slug {slug} is Felix's own. Choose another.")
    try:
        SLUG(slug)
    except ValidationError as error:
        raise InvalidInput(
            f"The tenant's slug {slug!r} is not valid: {error.messages[0]}"
        ) from None
    try:
        with transaction.atomic():
            return Tenant.objects.create(slug=slug, name=name or slug)
    except IntegrityError:
        raise AlreadyExists(f"A tenant {slug} exists already.") from None


def tenant_by_slug(slug: str) -> Tenant:
    """Return the tenant.

    Raises:
        NotFound: there is none.
    """
    tenant = Tenant.objects.filter(slug=slug).first()
    if tenant is None:
        raise NotFound(f"There is no tenant {slug}. Create it: felix tenant create {slug}")
    return tenant


def create_member(*, username: str, tenant: Tenant, role: str, is_staff: bool = False) -> str:
    """The person is a member of the tenant, again where they had left.

    Returns the one-time password of a new person, "" for a known one.

    Raises:
        InvalidInput: the name or the role is not valid.
        AlreadyExists: the person is a member already.
    """
    if role not in Role.values:
        raise InvalidInput(f"There is no role {role}. Roles: {', '.join(Role.values)}.")
    _check_username(username)
    password = one_time_password()
    with tenant_scope(tenant.pk):
        user, is_new = User.objects.get_or_create(
            username=username, defaults={"is_staff": is_staff}
        )
        if is_new:
            user.set_password(password)
            user.has_one_time_password = True
            user.save(update_fields=["password", "has_one_time_password"])
        has_joined = _join(tenant, user, role)
    if not has_joined:
        raise AlreadyExists(f"{username} is a member of {tenant.slug} already.")
    return password if is_new else ""


def _check_username(username: str) -> None:
    if len(username) > LONGEST_USERNAME:
        raise InvalidInput(f"A person's name has at most {LONGEST_USERNAME} characters.")
    try:
        User.username_validator(username)
    except ValidationError as error:
        raise InvalidInput(f"The name {username!r} is not valid: {error.messages[0]}") from None


def reset_password(*, username: str) -> str:
    """The person has a new one-time password, which is returned; every sign-in of theirs is over.

    Raises:
        NotFound: nobody has this name.
    """
    password = one_time_password()
    with transaction.atomic():
        user = User.objects.filter(username=username).first()
        if user is None:
            raise NotFound(f"There is nobody named {username}.")
        user.set_password(password)
        user.has_one_time_password = True
        user.save(update_fields=["password", "has_one_time_password"])
    return password


def _join(tenant: Tenant, user: User, role: str) -> bool:
    member, is_new = Membership.objects.get_or_create(
        tenant=tenant, user=user, defaults={"role": role}
    )
    left = Membership.objects.filter(pk=member.pk, removed_at__isnull=False)
    return is_new or bool(left.update(removed_at=None, role=role))


def remove_member(*, tenant: Tenant, username: str) -> None:
    """The person is no member of the tenant any more, and their keys are worth nothing.

    What they did stays. `agents.services.leaving` ends their runs too.

    Raises:
        NotFound: the person is no member of the tenant.
    """
    with tenant_scope(tenant.pk):
        member = member_by_name(tenant=tenant, username=username)
        Membership.objects.filter(pk=member.pk).update(removed_at=database_now())


def member_by_name(*, tenant: Tenant, username: str) -> Membership:
    """Return the present membership of a person.

    Raises:
        NotFound: the person is no member of the tenant.
    """
    member = (
        Membership.objects.for_tenant(tenant.pk)
        .filter(user__username=username, removed_at=None)
        .first()
    )
    if member is None:
        raise NotFound(f"{username} is no member of {tenant.slug}.")
    return member


def create_key(
    *,
    tenant: Tenant,
    name: str,
    scopes: Iterable[str],
    owner: Membership | None = None,
    expires_at: datetime | None = None,
) -> str:
    """A key exists; returns its secret, which is shown this once and stored as a digest.

    Raises:
        InvalidInput: the name cannot be read, or one of the scopes does not exist.
        AlreadyExists: the tenant has a key of this name.
    """
    _check_key_name(name)
    held = known_scopes(scopes)
    secret = new_secret("fx")
    try:
        with tenant_scope(tenant.pk):
            ApiKey.objects.create(
                tenant=tenant,
                owner=owner,
                name=name,
                shown_start=secret[:8],
                secret_sha256=hash_secret(secret),
                scopes=held,
                expires_at=expires_at,
            )
    except IntegrityError:
        raise AlreadyExists(f"{tenant.slug} has a key {name} already.") from None
    return secret


def _check_key_name(name: str) -> None:
    """Names stand in lists and in the log: what cannot be seen in one is no part of a name."""
    if not name.isprintable() or name != name.strip() or not 0 < len(name) <= LONGEST_KEY_NAME:
        raise InvalidInput(
            f"A key's name has 1 to {LONGEST_KEY_NAME} visible characters, "
            "without spaces at its ends."
        )


def revoke_key(*, tenant: Tenant, name: str) -> None:
    """The key is worth nothing from now on. `agents.services.leaving` ends its runs too.

    Raises:
        NotFound: the tenant has no key of this name that holds.
    """
    with tenant_scope(tenant.pk):
        keys = ApiKey.objects.for_tenant(tenant.pk).filter(name=name, revoked_at=None)
        if not keys.update(revoked_at=database_now()):
            raise NotFound(f"{tenant.slug} has no key {name} that holds.")


def create_first_operator() -> tuple[str, str] | None:
    """The tenant `default` and its admin `operator` exist.

    Returns (name, one-time password), or None where people do.

    Effects: only on a database without any person.
    """
    with system_scope():
        if User.objects.exists():
            return None
        tenant, _ = Tenant.objects.get_or_create(slug="default", defaults={"name": "default"})
    return "operator", create_member(
        username="operator", tenant=tenant, role=Role.ADMIN, is_staff=True
    )
