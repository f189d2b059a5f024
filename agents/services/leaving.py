"""Who leaves takes their authority along: keys, runs and the gates of these (decisions 3.11)."""

from __future__ import annotations

from agents.services.sweeping import stop_orphaned_runs
from felix_web.audit.services import audit_row, record
from felix_web.tenancy import services
from felix_web.tenancy.models import Tenant
from felix_web.tenancy.scoping import tenant_scope

DEPLOYMENT = "deployment"
"""Who acts where a command does: whoever may run commands here, by no name Felix knows."""


def remove_member(*, tenant: Tenant, username: str) -> None:
    """The person has left the tenant: no key of theirs holds and none of their runs goes on.

    A run that cannot be stopped now is stopped by the next sweep. What they did stays.

    Raises:
        NotFound: the person is no member of the tenant.
    """
    with tenant_scope(tenant.pk):
        services.remove_member(tenant=tenant, username=username)
        _audit(tenant, "member_removed", username)
    stop_orphaned_runs()


def revoke_key(*, tenant: Tenant, name: str) -> None:
    """The key holds no more, and none of its runs goes on.

    Raises:
        NotFound: the tenant has no key of this name that holds.
    """
    with tenant_scope(tenant.pk):
        services.revoke_key(tenant=tenant, name=name)
        _audit(tenant, "key_revoked", name)
    stop_orphaned_runs()


def _audit(tenant: Tenant, act: str, subject: str) -> None:
    record(audit_row(tenant_id=tenant.pk, act=act, actor=DEPLOYMENT, subject=subject))
