"""One call of a message as a row of the transcript."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.views.present.faces import DENIED_BY_TIME, Face, call_face
from agents.views.present.gate import GateCard
from agents.views.present.numbers import counted, grouped
from agents.views.present.target import target
from agents.views.present.text import content_text
from approvals.core.gate import GateStatus
from sessions.core.states import CallStatus

INTERRUPTED = (
    "Interrupted. Whether it took effect is unknown. "
    "Not re-run, because this tool is not marked safe to repeat."
)


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call, folded to one line.

    `took_ms` None means not known. `after` is a sentence that may not be folded away.
    """

    call_id: str
    tool: str
    target: str
    face: Face
    at_ms: int
    took_ms: int | None
    note: str
    args: str
    output: str
    output_note: str
    after: str
    gate: GateCard | None = None
    settled: Mapping[str, Any] | None = None

    kind = "call"

    @property
    def is_waiting(self) -> bool:
        """True while a gate holds the call."""
        return self.gate is not None and self.gate.is_waiting


@dataclass(slots=True)
class CallParts:
    """What the log says about one call, event by event. `at_ms` is when it was asked for."""

    call_id: str
    tool: str
    args: Mapping[str, Any]
    at_ms: int
    started_ms: int | None = None
    result: Mapping[str, Any] | None = None
    result_ms: int | None = None
    settled: Mapping[str, Any] | None = None


def _status(parts: CallParts, gate: GateCard | None, *, run_is_active: bool) -> str:
    if parts.result is not None:
        return str(parts.result.get("status") or CallStatus.DONE)
    if gate is not None and gate.is_waiting:
        return CallStatus.WAITING
    if parts.started_ms is not None:
        return CallStatus.RUNNING if run_is_active else CallStatus.INTERRUPTED
    return CallStatus.PROPOSED if run_is_active else CallStatus.CANCELLED


def _was_denied_by_time(parts: CallParts) -> bool:
    return parts.settled is not None and parts.settled.get("status") == GateStatus.EXPIRED


def _face(parts: CallParts, status: str, gate: GateCard | None) -> Face:
    if status == CallStatus.WAITING and gate is not None:
        return gate.face
    if status == CallStatus.DENIED and _was_denied_by_time(parts):
        return DENIED_BY_TIME
    return call_face(status)


def _took(parts: CallParts, status: str) -> int | None:
    if status not in (CallStatus.DONE, CallStatus.FAILED) or parts.result_ms is None:
        return None
    started = parts.started_ms
    return None if started is None else max(0, parts.result_ms - started)


def _after(parts: CallParts, status: str) -> str:
    if status == CallStatus.INTERRUPTED:
        return INTERRUPTED
    if status != CallStatus.DENIED:
        return ""
    if _was_denied_by_time(parts):
        return "Denied by time: nobody decided before the deadline."
    by = str((parts.settled or {}).get("decided_by") or "")
    note = str((parts.settled or {}).get("note") or "")
    if not by:
        return ""
    return f"Denied by {by}: {note}" if note else f"Denied by {by}."


def _output(parts: CallParts) -> tuple[str, str, str]:
    """Return the output, its short note for the row, and what is said below it."""
    if parts.result is None:
        return "", "", ""
    text = content_text(parts.result.get("content"))
    lines = len(text.splitlines())
    total = parts.result.get("total_chars")
    below = ""
    if isinstance(total, int) and parts.result.get("output_id") and total > len(text):
        below = f"The model was shown this part of {grouped(total)} characters."
    return text, counted(lines, "line") if lines > 1 else "", below


def present_call(parts: CallParts, gate: GateCard | None, *, run_is_active: bool) -> CallRow:
    """Return the row of one call.

    Args:
        gate: The gate of the call, or None where it has none or its evidence is not at hand.
        run_is_active: False: a call without a result will get none from its run. One that was
            started may have taken effect, one that was not never did.
    """
    status = _status(parts, gate, run_is_active=run_is_active)
    output, note, output_note = _output(parts)
    return CallRow(
        call_id=parts.call_id,
        tool=parts.tool,
        target=target(parts.args),
        face=_face(parts, status, gate),
        at_ms=parts.at_ms,
        took_ms=_took(parts, status),
        note=note,
        args=json.dumps(parts.args, ensure_ascii=False, indent=2),
        output=output,
        output_note=output_note,
        after="" if gate is not None and status == CallStatus.DENIED else _after(parts, status),
        gate=gate,
        settled=parts.settled if gate is None else None,
    )
