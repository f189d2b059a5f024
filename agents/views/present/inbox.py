"""Rows of the approvals inbox: nearest deadline first, decided ones newest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.views.present.gate import GateCard, present_gate

Wire = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class InboxRow:
    """One gate as a row. `title` is its thread's, or the run's where the thread is hidden."""

    card: GateCard
    title: str
    sub: str
    is_picked: bool = False


def _sub(card: GateCard, gate: Wire) -> str:
    if card.is_waiting:
        quorum = int(gate.get("quorum") or 1)
        if quorum > 1:
            return f"{len(card.votes)} of {quorum} approved"
        return "" if card.can_decide else card.why_not
    if card.is_expired:
        return "nobody decided in time"
    if card.because:
        return card.because
    by = f"by {card.decided_by}" if card.decided_by else ""
    return f"{by}, with a note" if by and card.note else by


def present_inbox(
    gates: Iterable[Wire], *, viewer: str, picked: str = "", newest_first: bool = False
) -> tuple[InboxRow, ...]:
    """Return the rows of the wire's gates, each with `thread_title` where its thread is known.

    Args:
        viewer: The name of the member who looks.
        picked: The gate whose card stands beside the list.
        newest_first: For history; else the nearest deadline comes first.
    """
    rows = []
    for gate in gates:
        name, version = gate.get("manifest"), gate.get("version")
        agent = f"{name}@{version}" if name and version else str(name or "")
        card = present_gate(gate, viewer=viewer, agent=agent, where="inbox")
        title = str(gate.get("thread_title") or "") or "A request without a thread"
        rows.append(InboxRow(card, title, _sub(card, gate), card.gate_id == picked))
    if newest_first:
        return tuple(sorted(rows, key=lambda row: row.card.decided_ms or 0, reverse=True))
    return tuple(sorted(rows, key=lambda row: row.card.expires_ms or 0))
