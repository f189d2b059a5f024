"""What happened, one short line each, newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.views.present.transcript import joined
from approvals.core.gate import GateStatus
from sessions.core.events import EventKind
from sessions.core.states import CallStatus

Wire = Mapping[str, Any]
NEWEST = 40

RESULT_WORDS = {
    CallStatus.DONE: "done",
    CallStatus.FAILED: "failed",
    CallStatus.DENIED: "denied",
    CallStatus.INTERRUPTED: "interrupted",
    CallStatus.CANCELLED: "cancelled",
}
GATE_WORDS = {
    GateStatus.ANSWERED: "approved",
    GateStatus.DENIED: "denied",
    GateStatus.EXPIRED: "denied by time",
    GateStatus.WITHDRAWN: "gate withdrawn",
}


@dataclass(frozen=True, slots=True)
class ActivityRow:
    """One line: a tool, or nothing, and what it did."""

    key: str
    at_ms: int
    tool: str
    words: str


def _event_rows(event: Wire, names: Mapping[str, str]) -> list[tuple[str, str]]:
    kind, tool = event["kind"], str(event.get("tool") or "")
    match kind:
        case EventKind.RUN_STARTED:
            by = names.get(event.get("run_id") or "", "")
            return [("", f"run started by {by}" if by else "run started")]
        case EventKind.RUN_FINISHED:
            return [("", joined(f"run {event.get('status') or 'ended'}", event))]
        case EventKind.ASSISTANT_MESSAGE:
            calls = event.get("tool_calls") or ()
            return [(str(call.get("name") or ""), "requested") for call in calls] or [
                ("", "answered")
            ]
        case EventKind.CALL_STARTED:
            return [(tool, "started")]
        case EventKind.TOOL_RESULT:
            return [(tool, RESULT_WORDS.get(event.get("status", ""), "ended"))]
        case _:
            return []


def _vote_rows(gate: Wire) -> list[ActivityRow]:
    """Return a line for each approval that did not settle the gate."""
    quorum = int(gate.get("quorum") or 1)
    votes = sorted(gate.get("approvals") or (), key=lambda vote: vote.get("at") or 0)
    return [
        ActivityRow(
            f"{gate['gate_id']}-vote-{number}",
            vote.get("at") or 0,
            "",
            f"{vote.get('by') or 'a reviewer'} approved, {number} of {quorum}",
        )
        for number, vote in enumerate(votes, start=1)
        if number < quorum
    ]


def _gate_rows(gate: Wire) -> list[ActivityRow]:
    gate_id, rule = str(gate["gate_id"]), str(gate.get("rule_id") or "")
    rows = _vote_rows(gate)
    if gate.get("created_at"):
        rows.append(
            ActivityRow(f"{gate_id}-opened", gate["created_at"], "", f"gate opened: {rule}")
        )
    words = GATE_WORDS.get(gate["status"])
    at = gate.get("settled_at")
    if gate["status"] == GateStatus.EXPIRED:
        at = at or gate.get("expires_at")
    if words and at:
        by = str(gate.get("decided_by") or "")
        person = by and gate["status"] in (GateStatus.ANSWERED, GateStatus.DENIED)
        rows.append(ActivityRow(f"{gate_id}-ended", at, "", f"{by} {words}" if person else words))
    return rows


def present_activity(
    events: Sequence[Wire], gates: Sequence[Wire], names: Mapping[str, str]
) -> tuple[ActivityRow, ...]:
    """Return the newest lines, newest first, of events and gates together.

    Args:
        names: Who started each run, by run id.
    """
    rows: list[ActivityRow] = []
    for event in events:
        for number, (tool, words) in enumerate(_event_rows(event, names)):
            rows.append(ActivityRow(f"{event['seq']}-{number}", event["ts"], tool, words))
    for gate in gates:
        rows.extend(_gate_rows(gate))
    rows.sort(key=lambda row: row.at_ms)
    return tuple(reversed(rows[-NEWEST:]))
