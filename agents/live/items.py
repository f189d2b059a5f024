"""Items of a thread's stream: a frame, its bytes for all who read it, and how new it is."""

from __future__ import annotations

from dataclasses import dataclass, field

from approvals.core.gate import GateKind, GateStatus
from sessions.core.events import Event
from sessions.core.frames import (
    Frame,
    FrameType,
    RunState,
    end_frame,
    event_frame,
    gate_frame,
    run_frame,
    sse_field,
    usage_frame,
)
from sessions.core.states import RunStatus

Place = tuple[int, ...]

_WITHIN_FENCE = {
    RunStatus.RUNNING: 0,
    RunStatus.WAITING: 1,
    RunStatus.QUEUED: 2,
}
_ENDED = 3


@dataclass(frozen=True, slots=True)
class Item:
    """One frame on its way to readers. Of two items about the same thing, the one with the higher
    place is newer.

    `place` is compared within a kind: an event's seq; for a run its first seq, fence and phase; for
    a gate how far it is. `run_id` is None for what belongs to no run.
    """

    kind: FrameType
    frame: Frame
    data: bytes
    run_id: str | None
    place: Place
    gate_id: str = ""
    message_id: str = ""
    is_approval: bool = False

    @property
    def is_end(self) -> bool:
        """True for the last item of a run."""
        return self.kind in (FrameType.DONE, FrameType.ERROR)


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as it was read, with what orders its states: they only move on, and so does this."""

    state: RunState
    first_seq: int
    fence: int
    model_ms: int

    @property
    def place(self) -> Place:
        """Where the run stands: runs of a thread in their order, then claims, then phases of a
        claim.

        Within one claim a run is running, then waiting or given back, then over; only a claim
        raises the fence.
        """
        phase = _WITHIN_FENCE.get(self.state.status, _ENDED)
        return self.first_seq, self.fence, phase, -len(self.state.waiting_on)

    @property
    def usage_place(self) -> Place:
        """How much was used: the totals only grow."""
        usage = self.state.usage
        total = usage.input + usage.output + usage.cache_read + usage.cache_write
        return self.first_seq, total, self.model_ms


@dataclass(slots=True)
class Marks:
    """How far a reader is. `next_seq` is the first event it has not seen."""

    next_seq: int
    run: Place = ()
    usage: Place = ()
    end: Place = ()
    gates: dict[str, Place] = field(default_factory=dict)

    def take(self, item: Item) -> bool:
        """Return whether the item is news to the reader, who has it from now on."""
        match item.kind:
            case FrameType.EVENT:
                if item.place[0] < self.next_seq:
                    return False
                self.next_seq = item.place[0] + 1
            case FrameType.RUN:
                if item.place <= self.run:
                    return False
                self.run = item.place
            case FrameType.USAGE:
                if item.place <= self.usage:
                    return False
                self.usage = item.place
            case FrameType.GATE:
                if item.place <= self.gates.get(item.gate_id, ()):
                    return False
                self.gates[item.gate_id] = item.place
            case FrameType.DONE | FrameType.ERROR:
                if item.place <= self.end:
                    return False
                self.end = item.place
            case _:
                pass
        return True

    @property
    def run_from(self) -> int | None:
        """The first seq of the newest run the reader knows, or None."""
        return self.run[0] if self.run else None

    def settled_gates(self) -> list[str]:
        """Return the gates that can change no more."""
        return [gate_id for gate_id, place in self.gates.items() if place[1] == SETTLED]

    def copy(self) -> Marks:
        """Return marks of another reader at the same point."""
        return Marks(self.next_seq, self.run, self.usage, self.end, dict(self.gates))


LAPSED, SETTLED = 1, 2


def gate_place(*, revision: int, stored: GateStatus, shown: GateStatus, approvals: int) -> Place:
    """Return how far a gate is: its revision, whether it is settled in the table or lapsed by the
    clock, its approvals.
    """
    is_lapsed = LAPSED if shown is GateStatus.EXPIRED else 0
    return revision, SETTLED if stored is not GateStatus.WAITING else is_lapsed, approvals


def event_item(event: Event) -> Item:
    """Return a committed event."""
    frame = event_frame(event)
    return Item(
        kind=FrameType.EVENT,
        frame=frame,
        data=sse_field(frame, next_seq=event.seq + 1),
        run_id=event.run_id,
        place=(event.seq,),
        message_id=event.message_id,
    )


def gate_item(gate: Frame, place: Place) -> Item:
    """Return a gate as it stands."""
    frame = gate_frame(gate)
    return Item(
        kind=FrameType.GATE,
        frame=frame,
        data=sse_field(frame),
        run_id=gate["run_id"],
        place=place,
        gate_id=gate["gate_id"],
        is_approval=gate["kind"] == GateKind.APPROVAL,
    )


def _run_item(row: RunRow, kind: FrameType, frame: Frame, place: Place) -> Item:
    return Item(kind, frame, sse_field(frame), row.state.run_id, place)


def run_item(row: RunRow) -> Item:
    """Return where a run stands."""
    return _run_item(row, FrameType.RUN, run_frame(row.state), row.place)


def usage_item(row: RunRow) -> Item:
    """Return what a run has used."""
    return _run_item(row, FrameType.USAGE, usage_frame(row.state), row.usage_place)


def end_item(row: RunRow) -> Item:
    """Return the last item of an ended run."""
    frame = end_frame(row.state)
    return _run_item(row, FrameType(frame["type"]), frame, (row.first_seq,))
