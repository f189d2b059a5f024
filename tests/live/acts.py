"""A run with one gated call, step by step, through the services that a driver uses."""

from __future__ import annotations

from agents.core.loop import Finish
from agents.core.store import CallClosed, Start
from agents.services import driving
from approvals.core.gate import Decision
from approvals.deciding import Said, decide_gate
from sessions.core.events import EventKind, NewEvent
from sessions.core.states import CallStatus, RunStatus, StopReason
from sessions.models import Run
from tests import make, people


def asked(row: Run) -> str:
    """The run waits for a gate; returns its id."""
    return make.gate(row).pk


def decided(gate_id: str, word: Decision = Decision.APPROVE) -> None:
    """Bob said his word."""
    decide_gate(principal=people.bob(), gate_id=gate_id, said=Said(word))


def carried_out(row: Run, gate_id: str) -> None:
    """The approved call ran, and the run is done."""
    taken = make.claimed(row)
    begun = NewEvent(EventKind.CALL_STARTED, {"tool": "write_file"}, call_id="call_1")
    driving.start(taken.claim, Start(begun, gate_id=gate_id))
    facts = {"gate_id": gate_id, "status": "answered", "decided_by": "bob", "note": ""}
    end = CallClosed("call_1", "write_file", CallStatus.DONE, "written", gate=facts)
    driving.result(taken.claim, [end], ())
    make.answered(taken, "it is written")
    over = Finish(RunStatus.DONE, StopReason.END_TURN)
    driving.finish(taken.claim, over, final_text="it is written", active_ms=5)


def whole_run(**facts) -> Run:
    """A run that went through a gate to its end."""
    make.manifest()
    row = make.run(**facts)
    gate_id = asked(row)
    decided(gate_id)
    carried_out(row, gate_id)
    return Run.objects.select_related("thread").get(pk=row.pk)
