"""The reducer: what a reader knows after the frames it got, from whatever source they came.

After any prefix of a stream it holds a true state, and `cursor` says where to go on. A frame that
comes twice, or late, changes nothing: events count by `seq`, text by offset, gates by how far they
are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, assert_never

from sessions.core.events import EventKind
from sessions.core.frames import Frame, FrameType, UsageTotals, usage_json

SNAPSHOT_EVENTS = 200
NO_USAGE = usage_json(UsageTotals())


@dataclass(slots=True)
class OpenText:
    """What was written so far of a message that is not in the log yet."""

    text: str = ""
    thinking: str = ""


def spliced(known: str, offset: int, more: str) -> str:
    """Return the text once a delta is in it: again, the same; from 0, replaced; behind a gap, not
    taken.
    """
    if offset > len(known) or known[offset : offset + len(more)] == more:
        return known
    return known[:offset] + more


def gate_order(gate: Frame) -> tuple[int, bool, int]:
    """Return how far a gate is: of two frames about one, the higher is the newer."""
    is_settled = gate["status"] != "waiting"
    return gate["revision"], is_settled, len(gate.get("approvals", ()))


@dataclass(slots=True)
class ThreadView:
    """A thread as one reader sees it. `cursor` None: no event and no snapshot came yet.

    `events` are those of the active branch, by seq; `end` is the frame that ended the stream, if
    one did.
    """

    cursor: int | None = None
    thread: dict[str, Any] = field(default_factory=dict)
    run: dict[str, Any] | None = None
    events: dict[int, Frame] = field(default_factory=dict)
    has_more: bool = False
    gates: dict[str, Frame] = field(default_factory=dict)
    branches: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, OpenText] = field(default_factory=dict)
    end: Frame | None = None
    _messages: set[str] = field(default_factory=set)

    def apply(self, frame: Frame) -> None:
        """The frame is in the view."""
        kind = FrameType(frame["type"])
        match kind:
            case FrameType.SNAPSHOT:
                self._take_snapshot(frame)
            case FrameType.EVENT:
                self._take_event(frame)
            case FrameType.RUN:
                self._take_run(frame)
            case FrameType.TEXT_DELTA | FrameType.THINKING_DELTA:
                self._take_delta(kind, frame)
            case FrameType.TEXT_RESET:
                self.texts.pop(frame["message_id"], None)
            case FrameType.GATE:
                self._take_gate(frame)
            case FrameType.USAGE:
                self._take_usage(frame)
            case FrameType.DONE | FrameType.ERROR:
                self.end = frame
                self.texts.clear()
            case _:
                assert_never(kind)

    def snapshot(self) -> Frame:
        """Return the snapshot that this view amounts to."""
        newest = list(self.events.values())[-SNAPSHOT_EVENTS:]
        return {
            "type": FrameType.SNAPSHOT.value,
            "thread": self.thread,
            "run": self.run,
            "events": newest,
            "has_more": self.has_more or len(newest) < len(self.events),
            "gates": list(self.gates.values()),
            "branches": self.branches,
        }

    def _take_snapshot(self, frame: Frame) -> None:
        self.thread = dict(frame["thread"])
        self.run = None if frame["run"] is None else dict(frame["run"])
        self.events = {event["seq"]: event for event in frame["events"]}
        self.has_more = frame["has_more"]
        self.gates = {gate["gate_id"]: gate for gate in frame["gates"]}
        self.branches = list(frame["branches"])
        self.texts = {}
        self.end = None
        self._messages = {event.get("message_id", "") for event in frame["events"]}
        last = frame["events"][-1]["seq"] if frame["events"] else -1
        self.cursor = max(last, frame["thread"]["leaf_seq"]) + 1

    def _take_event(self, frame: Frame) -> None:
        seq, branch = frame["seq"], frame["branch_id"]
        if self.cursor is not None and seq < self.cursor:
            return
        self.cursor = seq + 1
        if frame["kind"] == EventKind.REWOUND:
            self._rewind(frame)
        if branch != self.thread.setdefault("active_branch", branch):
            return
        self.thread["leaf_seq"] = seq
        self.events[seq] = frame
        if frame["kind"] == EventKind.ASSISTANT_MESSAGE:
            self._messages.add(frame["message_id"])
            self.texts.pop(frame["message_id"], None)

    def _rewind(self, frame: Frame) -> None:
        """The branch that is left keeps its events in the log; this view goes on with those before
        the cut.
        """
        parent = self.thread.get("active_branch")
        self.branches.append(
            {
                "branch_id": frame["branch_id"],
                "parent_branch_id": parent,
                "from_seq": frame["from_seq"],
            }
        )
        self.thread["active_branch"] = frame["branch_id"]
        self.thread["leaf_epoch"] = frame["epoch"]
        for seq in [seq for seq in self.events if seq > frame["from_seq"]]:
            del self.events[seq]

    def _take_run(self, frame: Frame) -> None:
        known = self.run
        is_same = known is not None and known["run_id"] == frame["run_id"]
        said = {key: value for key, value in frame.items() if key != "type"}
        usage = known["usage"] if is_same and known is not None else dict(NO_USAGE)
        self.run = {**said, "usage": usage}
        if not is_same:
            self.end = None
            self.texts.clear()
            self.gates = {
                gate_id: gate
                for gate_id, gate in self.gates.items()
                if gate["run_id"] == frame["run_id"]
            }

    def _take_usage(self, frame: Frame) -> None:
        if self.run is not None and self.run["run_id"] == frame["run_id"]:
            self.run["usage"] = {
                key: value for key, value in frame.items() if key not in ("type", "run_id")
            }

    def _take_gate(self, frame: Frame) -> None:
        known = self.gates.get(frame["gate_id"])
        if known is None or gate_order(frame) >= gate_order(known):
            self.gates[frame["gate_id"]] = frame

    def _take_delta(self, kind: FrameType, frame: Frame) -> None:
        message_id, offset, more = frame["message_id"], frame["offset"], frame["text"]
        if message_id in self._messages:
            return
        open_text = self.texts.setdefault(message_id, OpenText())
        if kind is FrameType.TEXT_DELTA:
            open_text.text = spliced(open_text.text, offset, more)
        else:
            open_text.thinking = spliced(open_text.thinking, offset, more)
