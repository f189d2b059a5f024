"""Who is asking: a member at the panel, a member's key, or a key of nobody."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from felix_web.common.errors import Forbidden
from felix_web.tenancy.models import Role

ROLE_ORDER = (Role.VIEWER, Role.OPERATOR, Role.REVIEWER, Role.ADMIN)

ROLE_SCOPES: dict[str, frozenset[str]] = {
    Role.VIEWER: frozenset({"approvals:read", "manifests:read"}),
    Role.OPERATOR: frozenset({"approvals:read", "approvals:write", "manifests:read"}),
    Role.REVIEWER: frozenset({"approvals:read", "approvals:write", "manifests:read", "audit:read"}),
    Role.ADMIN: frozenset({"*"}),
}


class MissingScope(Forbidden):
    """The credential lacks a scope that this needs."""

    code = "missing_scope"
    title = "Missing scope"
    hint = "Ask an admin for a key with this scope."


def identity_of(member_id: int | None, key_id: int | None) -> str:
    """Return the membership, or the key of nobody, as one text: whose a run or a decision is."""
    return f"member:{member_id}" if member_id is not None else f"key:{key_id}"


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller, as its credential says. The tenant comes from here and from nowhere else (L14).

    `scopes` of a key with an owner are already cut to what the owner's role allows now.
    `expires_at` is the credential's own end, or None.
    """

    tenant_id: int
    tenant_slug: str
    name: str
    scopes: frozenset[str]
    member_id: int | None = None
    key_id: int | None = None
    role: str = ""
    expires_at: datetime | None = None
    via: str = field(default="api")

    @property
    def identity(self) -> str:
        """The membership, or the key of nobody.

        What an idempotency key and a bound approval belong to.
        """
        return identity_of(self.member_id, self.key_id)

    @property
    def may_send(self) -> bool:
        """True where the caller may start and stop runs.

        Operators and above, and keys of nobody.
        """
        return self.member_id is None or self.role in ROLE_ORDER[1:]

    def has(self, scope: str) -> bool:
        """Return whether the scope is held.

        By name, by `*` or `admin`, or `x:read` through `x:write`.
        """
        if self.scopes & {"*", "admin", scope}:
            return True
        area, _, act = scope.partition(":")
        return act == "read" and f"{area}:write" in self.scopes

    def need(self, scope: str) -> None:
        """Return when the scope is held.

        Raises:
            MissingScope: it is not.
        """
        if not self.has(scope):
            raise MissingScope(f"This needs the scope {scope}.", scope=scope)


def cut_to_role(scopes: frozenset[str], role: str) -> frozenset[str]:
    """Return the scopes a key of a member with this role really has."""
    allowed = ROLE_SCOPES[role]
    if "*" in allowed:
        return scopes
    if scopes & {"*", "admin"}:
        return allowed
    written = {f"{scope.partition(':')[0]}:read" for scope in allowed if scope.endswith(":write")}
    return scopes & (allowed | written)
