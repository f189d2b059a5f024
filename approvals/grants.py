"""Grants: standing permissions for identical calls, which people can see and take back."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from approvals.models import Gate, Grant
from felix_web.audit.services import audit_row, record
from felix_web.common.clock import epoch_ms, optional_ms
from felix_web.common.errors import NotFound
from felix_web.common.ids import new_id
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_scope
from sessions.models import ThreadKind


def mint_grant(*, gate: Gate, by: str) -> Grant:
    """The approved gate's call may be made again for as long as the gate could have waited.

    Locks: the run's row, held by the caller.
    """
    now = database_now()
    lifetime = max(gate.expires_at - gate.created_at, timedelta(seconds=1))
    grant = Grant.objects.create(
        id=new_id("grant"),
        tenant_id=gate.tenant_id,
        gate=gate,
        thread_id=gate.thread_id,
        rule_id=gate.rule_id,
        manifest=gate.manifest,
        manifest_version=gate.manifest_version,
        tool=gate.tool,
        args_digest=gate.args_digest,
        tool_digest=gate.tool_digest,
        preimage=gate.preimage,
        principal=gate.principal,
        granted_by=by,
        created_at=now,  # SQLite's own default is too coarse to page by
        expires_at=now + lifetime,
    )
    _record(grant, "grant_minted", by)
    return grant


def revoke_grant(*, principal: Principal, grant_id: str) -> Grant:
    """The grant allows no call that has not begun; returns it. Once more changes nothing.

    Raises:
        MissingScope: the caller lacks approvals:write.
        NotFound: the tenant has no such grant.
    """
    principal.need("approvals:write")
    with tenant_scope(principal.tenant_id):
        grant = grant_for(tenant_id=principal.tenant_id, grant_id=grant_id)
        rows = Grant.objects.filter(pk=grant.pk, revoked_at=None)
        if rows.update(revoked_at=database_now()):
            _record(grant, "grant_revoked", principal.name)
        return grant_for(tenant_id=principal.tenant_id, grant_id=grant_id)


def _record(grant: Grant, act: str, by: str) -> None:
    record(
        audit_row(
            tenant_id=grant.tenant_id,
            act=act,
            actor=by,
            subject=grant.pk,
            gate=grant.gate_id,
            tool=grant.tool,
            rule=grant.rule_id,
        )
    )


def holds_grant(*, grant_id: str) -> bool:
    """Return whether the standing permission is live, by the database's clock."""
    return Grant.objects.filter(
        pk=grant_id, revoked_at=None, expires_at__gt=database_now()
    ).exists()


def live_grants(
    *, tenant_id: int, manifest: str, version: int, thread_id: int | None
) -> list[Grant]:
    """Return the standing permissions of a manifest's version, newest first.

    Args:
        thread_id: Only those given on this thread; None means on any.
    """
    rows = Grant.objects.for_tenant(tenant_id).filter(
        manifest=manifest,
        manifest_version=version,
        revoked_at=None,
        expires_at__gt=database_now(),
    )
    if thread_id is not None:
        rows = rows.filter(thread_id=thread_id)
    return list(rows.order_by("-created_at", "-pk"))


def grant_for(*, tenant_id: int, grant_id: str) -> Grant:
    """Return the tenant's grant with its thread.

    Raises:
        NotFound: the tenant has none with this id.
    """
    rows = Grant.objects.for_tenant(tenant_id).select_related("thread")
    grant = rows.filter(pk=grant_id).first()
    if grant is None:
        raise NotFound("There is no such grant.")
    return grant


def grants_page(
    *, tenant_id: int, limit: int = 50, before: tuple[datetime, str] | None = None
) -> list[Grant]:
    """Return the tenant's grants, newest first, ties by id; those that lapsed or were revoked too.

    One more than `limit` where there are more.

    Args:
        before: (created_at, id) of the last row of the page before.
    """
    rows = Grant.objects.for_tenant(tenant_id).select_related("thread")
    if before is not None:
        moment, grant_id = before
        rows = rows.filter(created_at__lt=moment) | rows.filter(created_at=moment, pk__lt=grant_id)
    return list(rows.order_by("-created_at", "-pk")[: limit + 1])


def grant_json(grant: Grant, *, now: datetime) -> dict[str, Any]:
    """Return a grant as REST answers it; its gate shows the arguments."""
    is_hidden = grant.thread.kind == ThreadKind.EPHEMERAL
    return {
        "grant_id": grant.pk,
        "gate_id": grant.gate_id,
        "thread_id": None if is_hidden else grant.thread.suffix,
        "manifest": grant.manifest,
        "version": grant.manifest_version,
        "rule_id": grant.rule_id,
        "tool": grant.tool,
        "is_bound": bool(grant.principal),
        "granted_by": grant.granted_by,
        "is_live": grant.revoked_at is None and grant.expires_at > now,
        "created_at": epoch_ms(grant.created_at),
        "expires_at": epoch_ms(grant.expires_at),
        "revoked_at": optional_ms(grant.revoked_at),
    }
