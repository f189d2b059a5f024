"""The state block: where the run stands, what it does or waits for, who started it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.views.present.faces import WAITING_ON_YOU, Face, run_face
from agents.views.present.gate import GateCard
from agents.views.present.transcript import reason_words
from sessions.core.states import RunStatus

Wire = Mapping[str, Any]
NO_RUN = Face("No run yet", "muted", "muted")
ACTIVE = frozenset({RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING})


@dataclass(frozen=True, slots=True)
class StateBlock:
    """What the operator's eye hits first. `deadline_ms` is set while a gate waits."""

    face: Face
    is_active: bool
    tool: str = ""
    target: str = ""
    words: str = ""
    deadline_ms: int | None = None
    started_ms: int | None = None
    finished_ms: int | None = None
    started_by: str = ""
    mode: str = ""
    model: str = ""
    is_scripted: bool = False
    run_id: str = ""
    more: str = ""
    gate_id: str = ""
    rule_id: str = ""

    @property
    def title(self) -> str:
        """The word for the page's title: `Waiting`, `Done`."""
        return "Waiting" if self.face.sign == "waiting" else self.face.word


def first_waiting(gates: Sequence[GateCard]) -> GateCard | None:
    """Return the gate to show first: one this person can decide, then the nearest deadline."""
    waiting = [gate for gate in gates if gate.is_waiting]
    return min(waiting, key=lambda gate: (not gate.can_decide, gate.expires_ms or 0), default=None)


def _words(run: Wire, gate: GateCard | None, doing: str, ended_by: str) -> str:
    status, error = run["status"], run.get("error")
    if status == RunStatus.FAILED and isinstance(error, Mapping) and error.get("message"):
        return str(error["message"])
    if status in (RunStatus.FAILED, RunStatus.STOPPED, RunStatus.EXPIRED):
        return reason_words(str(run.get("reason") or ""), ended_by)
    if status == RunStatus.QUEUED:
        return "starts as soon as a worker is free"
    return "" if gate is not None else doing


def present_state(
    run: Wire | None, gates: Sequence[GateCard], *, doing: str = "", ended_by: str = ""
) -> StateBlock:
    """Return the state block of a thread's newest run.

    Args:
        doing: One line about what a running run does now.
        ended_by: Who stopped it, where a person did.
    """
    if run is None:
        return StateBlock(NO_RUN, is_active=False, words="Type a message to start.")
    gate = first_waiting(gates) if run["status"] in ACTIVE else None
    others = sum(card.is_waiting for card in gates) - 1
    waits_on_you = gate is not None and gate.can_decide
    face = WAITING_ON_YOU if waits_on_you else run_face(run["status"])
    return StateBlock(
        face=face,
        is_active=run["status"] in ACTIVE,
        tool=gate.tool if gate else "",
        target=gate.target if gate else "",
        words=_words(run, gate, doing, ended_by),
        deadline_ms=gate.expires_ms if gate else None,
        started_ms=run.get("started_at") or run.get("created_at"),
        finished_ms=run.get("finished_at"),
        started_by=str(run.get("started_by") or ""),
        mode=str(run.get("mode") or ""),
        model=str(run.get("model") or ""),
        is_scripted=bool(run.get("scripted")),
        run_id=str(run["run_id"]),
        more=f"{others} more waiting" if others > 0 else "",
        gate_id=gate.gate_id if gate else "",
        rule_id=gate.rule_id if gate else "",
    )
