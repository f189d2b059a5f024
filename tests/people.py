"""Who the tests are about: a team of four in the tenant `acme`, and a stranger who is admin
elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from felix_web.tenancy.auth import member_principal, principal_of_key
from felix_web.tenancy.models import Membership, Tenant, User
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.services import create_key, create_member, create_tenant

TEAM = "acme"
ROLES = {
    "alice": (TEAM, "operator"),
    "bob": (TEAM, "reviewer"),
    "carol": (TEAM, "viewer"),
    "dora": (TEAM, "admin"),
    "mallory": ("evil", "admin"),
}


def tenant(slug: str = TEAM) -> Tenant:
    """Return the tenant, made where there is none."""
    return Tenant.objects.filter(slug=slug).first() or create_tenant(slug=slug)


def member(name: str) -> Membership:
    """Return the membership of one of the five, who signs in with a password of their own."""
    slug, role = ROLES[name]
    home = tenant(slug)
    mine = Membership.objects.select_related("tenant", "user").filter(
        tenant=home, user__username=name
    )
    if not mine.exists():
        create_member(username=name, tenant=home, role=role)
        User.objects.filter(username=name).update(has_one_time_password=False)
    return mine.get()


def key_of(name: str, *, scopes: Iterable[str] = ("*",), key_name: str = "", **more: object) -> str:
    """Return the secret of a new key that the person owns."""
    owner = member(name)
    count = owner.keys.count()
    return create_key(
        tenant=owner.tenant,
        name=key_name or f"{name}-{count}",
        scopes=scopes,
        owner=owner,
        **more,
    )


def ownerless_key(
    *, slug: str = TEAM, scopes: Iterable[str] = ("*",), key_name: str = "bot"
) -> str:
    """Return the secret of a new key that nobody owns."""
    return create_key(tenant=tenant(slug), name=key_name, scopes=scopes)


def of_key(secret: str) -> Principal:
    """Return the principal a key stands for."""
    return principal_of_key(secret)


def alice() -> Principal:
    """An operator of acme, signed in."""
    return member_principal(member("alice"))


def bob() -> Principal:
    """A reviewer of acme, signed in."""
    return member_principal(member("bob"))


def carol() -> Principal:
    """A viewer of acme, signed in."""
    return member_principal(member("carol"))


def dora() -> Principal:
    """An admin of acme, signed in."""
    return member_principal(member("dora"))


def mallory() -> Principal:
    """An admin of another tenant: a stranger to acme."""
    return member_principal(member("mallory"))
