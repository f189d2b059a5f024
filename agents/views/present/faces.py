"""One word, one tone and one sign for each state (decisions 2.5); the one table of the panel."""

from __future__ import annotations

from typing import NamedTuple

from approvals.core.gate import GateStatus
from sessions.core.states import CallStatus, RunStatus


class Face(NamedTuple):
    """How a state looks: its word, its hue and the shape of its sign (all in tokens and sprite)."""

    word: str
    tone: str
    sign: str


UNKNOWN = Face("Unknown", "muted", "muted")
WAITING_ON_YOU = Face("Waiting on you", "waiting", "waiting")
WAITING_ON_OTHERS = Face("Waiting on others", "muted", "waiting")
APPROVED = Face("Approved", "done", "done")
ANSWERED = Face("Answered", "done", "done")
DENIED = Face("Denied", "muted", "muted")
DENIED_BY_TIME = Face("Denied by time", "failed", "failed")
NOT_RUN = Face("Not run", "muted", "muted")

RUN_FACES = {
    RunStatus.QUEUED: Face("Queued", "muted", "muted"),
    RunStatus.RUNNING: Face("Running", "running", "running"),
    RunStatus.WAITING: WAITING_ON_OTHERS,
    RunStatus.DONE: Face("Done", "done", "done"),
    RunStatus.FAILED: Face("Failed", "failed", "failed"),
    RunStatus.STOPPED: Face("Stopped", "muted", "muted"),
    RunStatus.EXPIRED: Face("Expired", "failed", "failed"),
}

CALL_FACES = {
    CallStatus.PROPOSED: Face("Proposed", "muted", "muted"),
    CallStatus.WAITING: Face("Waiting", "waiting", "waiting"),
    CallStatus.RUNNING: Face("Running", "running", "running"),
    CallStatus.DONE: Face("Done", "done", "done"),
    CallStatus.FAILED: Face("Failed", "failed", "failed"),
    CallStatus.DENIED: DENIED,
    CallStatus.INTERRUPTED: Face("Interrupted", "failed", "interrupted"),
    CallStatus.CANCELLED: Face("Cancelled", "muted", "muted"),
}

GATE_FACES = {
    GateStatus.WAITING: WAITING_ON_OTHERS,
    GateStatus.ANSWERED: APPROVED,
    GateStatus.DENIED: DENIED,
    GateStatus.EXPIRED: DENIED_BY_TIME,
    GateStatus.WITHDRAWN: Face("Withdrawn", "muted", "muted"),
}


def run_face(status: str, *, waits_on_you: bool = False) -> Face:
    """Return the face of a run; one that waits looks different to the person it waits for."""
    if status == RunStatus.WAITING and waits_on_you:
        return WAITING_ON_YOU
    return RUN_FACES[RunStatus(status)] if status in set(RunStatus) else UNKNOWN


def call_face(status: str) -> Face:
    """Return the face of a call."""
    return CALL_FACES[CallStatus(status)] if status in set(CallStatus) else UNKNOWN


def gate_face(status: str, *, waits_on_you: bool = False) -> Face:
    """Return the face of a gate; one that waits looks different to the person it waits for."""
    if status == GateStatus.WAITING and waits_on_you:
        return WAITING_ON_YOU
    return GATE_FACES[GateStatus(status)] if status in set(GateStatus) else UNKNOWN
