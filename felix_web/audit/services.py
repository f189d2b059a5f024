"""Writing the trail."""

from __future__ import annotations

from typing import Any

from felix_web.audit.models import AuditEvent
from felix_web.tenancy.rows import insert_rows


def audit_row(
    *, tenant_id: int, act: str, actor: str = "", run_id: str = "", subject: str = "", **facts: Any
) -> AuditEvent:
    """Return an unsaved row; `record` writes it in the caller's transaction."""
    return AuditEvent(
        tenant_id=tenant_id,
        act=act,
        actor=actor[:200],
        run_id=run_id,
        subject=subject[:200],
        facts=facts,
    )


def record(*rows: AuditEvent) -> None:
    """The rows are in the trail, in this order, when the caller's transaction commits.

    Locks: none; last in the lock order (run, thread, gate, audit).
    """
    insert_rows(rows)
