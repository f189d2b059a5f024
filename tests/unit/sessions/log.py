"""A thread as a server holds it, told plainly: what a reader's view is compared with."""

from __future__ import annotations

from dataclasses import dataclass, field

from sessions.core.events import Event, EventKind
from sessions.core.frames import (
    BranchState,
    Frame,
    RunState,
    ThreadState,
    UsageTotals,
    end_frame,
    event_frame,
    gate_frame,
    run_frame,
    snapshot_frame,
    usage_frame,
)
from sessions.core.reducer import SNAPSHOT_EVENTS
from sessions.core.states import RunStatus


@dataclass
class Log:
    """A thread, and every frame that was sent about it, oldest first."""

    events: list[Event] = field(default_factory=list)
    branches: list[BranchState] = field(default_factory=lambda: [BranchState(0, None, -1)])
    lines: dict[int, list[int]] = field(default_factory=lambda: {0: []})
    active: int = 0
    epoch: int = 0
    run: RunState | None = None
    runs: int = 0
    gates: dict[str, Frame] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)

    def snapshot(self) -> Frame:
        seqs = self.lines[self.active]
        events = [self.events[seq] for seq in seqs]
        return snapshot_frame(
            thread=ThreadState("t", seqs[-1] if seqs else -1, self.epoch, self.active, "name"),
            run=self.run,
            events=events[-SNAPSHOT_EVENTS:],
            has_more=len(events) > SNAPSHOT_EVENTS,
            gates=[gate for gate in self.gates.values() if self._is_of_run(gate)],
            branches=self.branches,
        )

    def _is_of_run(self, gate: Frame) -> bool:
        return self.run is not None and gate["run_id"] == self.run.run_id

    def append(self, kind: EventKind, payload: dict, *, branch: int | None = None, **more) -> None:
        on = self.active if branch is None else branch
        run_id = self.run.run_id if self.run else None
        event = Event(len(self.events), on, kind, run_id, 0, payload, **more)
        self.events.append(event)
        self.lines[on].append(event.seq)
        self.frames.append(event_frame(event))

    def begin_run(self) -> None:
        self.runs += 1
        self.run = RunState(f"run_{self.runs}", f"rt_{self.runs}", RunStatus.QUEUED)
        self.frames.append(run_frame(self.run))
        self.append(EventKind.USER_MESSAGE, {"content": "go"})

    def move_run(self, status: RunStatus) -> None:
        if self.run is None:
            return
        self.run = RunState(self.run.run_id, self.run.resume_token, status, usage=self.run.usage)
        self.frames.append(run_frame(self.run))
        if not status.is_active:
            self.frames.append(end_frame(self.run))

    def answer(self, tokens: int) -> None:
        if self.run is None:
            return
        message_id = f"msg_{len(self.events)}"
        text = "word " * tokens
        for offset in range(0, len(text), 5):
            self.frames.append(
                {
                    "type": "text_delta",
                    "message_id": message_id,
                    "offset": offset,
                    "text": text[offset : offset + 5],
                }
            )
        self.append(EventKind.ASSISTANT_MESSAGE, {"content": text}, message_id=message_id)
        usage = UsageTotals(output=self.run.usage.output + tokens)
        self.run = RunState(self.run.run_id, self.run.resume_token, self.run.status, usage=usage)
        self.frames.append(usage_frame(self.run))

    def gate(self, number: int, status: str) -> None:
        if self.run is None:
            return
        gate_id = f"gate_{self.run.run_id}_{number}"
        known = self.gates.get(gate_id)
        if known is not None and known["status"] != "waiting":
            return
        revision = known["revision"] + 1 if known else 1
        said = {"gate_id": gate_id, "run_id": self.run.run_id, "revision": revision}
        self.gates[gate_id] = gate_frame({**said, "status": status})
        self.frames.append(self.gates[gate_id])

    def rewind(self, back: int) -> None:
        seqs = self.lines[self.active]
        kept = seqs[: max(len(seqs) - back, 0)]
        number, from_seq = len(self.branches), kept[-1] if kept else -1
        self.branches.append(BranchState(number, self.active, from_seq))
        self.lines[number] = list(kept)
        self.active, self.epoch = number, self.epoch + 1
        said = {"branch_id": number, "from_seq": from_seq, "epoch": self.epoch}
        run, self.run = self.run, None
        self.append(EventKind.REWOUND, said)
        self.run = run

    def late_result(self) -> None:
        if self.active:
            self.append(EventKind.TOOL_RESULT, {"content": "late"}, branch=0, call_id="c")
