"""The gate as a page, and what an answer to a decision shows."""

from __future__ import annotations

from typing import Any

from agents.views.page import act_key
from agents.views.present.gate import present_gate, waits_on
from approvals.core.gate import GateStatus
from approvals.selectors import gate_for, gate_json, newest_gate_id, waiting_gates
from felix_web.common.clock import epoch_ms
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_snapshot

Wire = dict[str, Any]


def read_gate(*, principal: Principal, gate_id: str) -> tuple[Wire, str, int]:
    """Return the gate as the wire has it, its thread's title, and the moment of the read.

    Raises:
        NotFound: the tenant has no such gate.
    """
    with tenant_snapshot(principal.tenant_id):
        gate = gate_for(tenant_id=principal.tenant_id, gate_id=gate_id)
        now = database_now()
        return gate_json(gate, now=now, principal=principal), gate.thread.title, epoch_ms(now)


def _next(principal: Principal, gate_id: str) -> tuple[str, str]:
    """Return the id of the next gate that waits for this person, and how many do."""
    with tenant_snapshot(principal.tenant_id):
        now = database_now()
        rows = waiting_gates(tenant_id=principal.tenant_id, with_evidence=False)
        gates = [gate_json(gate, now=now, principal=principal) for gate in rows]
    mine = [gate for gate in gates if waits_on(gate, principal.name) and gate["gate_id"] != gate_id]
    return (mine[0]["gate_id"], f"{len(mine)} more") if mine else ("", "")


def _newer(principal: Principal, gate: Wire) -> tuple[str, bool]:
    """Return the id of the card that asks again instead of this one, and whether one will."""
    if gate["status"] != GateStatus.WITHDRAWN or gate["settled_because"] != "evidence_changed":
        return "", False
    with tenant_snapshot(principal.tenant_id):
        newest = newest_gate_id(run_id=gate["run_id"], call_id=gate["call_id"])
    return ("", True) if newest == gate["gate_id"] else (newest, False)


def gate_context(
    *,
    principal: Principal,
    gate_id: str,
    is_unfolded: bool = False,
    notice: str = "",
    typed_note: str = "",
) -> Wire:
    """Return the page's context.

    Raises:
        NotFound: the tenant has no such gate.
    """
    gate, title, read_ms = read_gate(principal=principal, gate_id=gate_id)
    next_gate, next_words = _next(principal, gate_id)
    newer_gate, is_asked_soon = _newer(principal, gate)
    card = present_gate(
        gate,
        viewer=principal.name,
        agent=f"{gate['manifest']}@{gate['version']}",
        is_unfolded=is_unfolded,
        notice=notice,
        typed_note=typed_note,
    )
    return {
        "now_ms": read_ms,
        "gate": card,
        "thread_id": card.thread_id,
        "thread_title": title,
        "next_gate": next_gate,
        "next_words": next_words,
        "newer_gate": newer_gate,
        "is_asked_soon": is_asked_soon,
        "act_key": act_key(),
    }
