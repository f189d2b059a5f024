"""Frames: the one vocabulary of every reader (decisions 2.4). Live, durable and replay are three
sources of these.

Nothing here reads or keeps anything: each function returns the JSON object of one frame.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sessions.core.events import Event
from sessions.core.states import RunStatus, StopReason

Frame = dict[str, Any]

DONE = b"data: [DONE]\n\n"
"""The last field of every stream that came to its end."""
HEARTBEAT = b": alive\n\n"
"""A comment: keeps a proxy from closing a silent stream, and has no id."""

MICROS_PER_USD = 1_000_000


class FrameType(StrEnum):
    """What a frame says."""

    SNAPSHOT = "snapshot"
    EVENT = "event"
    RUN = "run"
    TEXT_DELTA = "text_delta"
    THINKING_DELTA = "thinking_delta"
    TEXT_RESET = "text_reset"
    GATE = "gate"
    USAGE = "usage"
    DONE = "done"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """What a run has used so far. `cost_usd_micros` None means that a price is not known."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost_usd_micros: int | None = 0
    certain: bool = True


@dataclass(frozen=True, slots=True)
class RunState:
    """A run as readers see it. `waiting_on` holds the kinds of its waiting gates, `final` and
    `error` how it ended.
    """

    run_id: str
    resume_token: str
    status: RunStatus
    reason: str = ""
    waiting_on: tuple[str, ...] = ()
    usage: UsageTotals = UsageTotals()
    stop_reason: str = ""
    final: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class BranchState:
    """A branch as readers see it: it left `parent` behind the event `from_seq` (-1: before all)."""

    branch_id: int
    parent: int | None
    from_seq: int


@dataclass(frozen=True, slots=True)
class ThreadState:
    """A thread as readers see it. `thread_id` None: made for one request, and hidden."""

    thread_id: str | None
    leaf_seq: int
    leaf_epoch: int
    active_branch: int
    name: str


def event_frame(event: Event) -> Frame:
    """Return a committed event, its payload flat. What is sealed is not in it."""
    frame: Frame = {
        **event.payload,
        "type": FrameType.EVENT.value,
        "seq": event.seq,
        "branch_id": event.branch,
        "kind": event.kind.value,
        "run_id": event.run_id,
        "ts": event.ts_ms,
    }
    if event.message_id:
        frame["message_id"] = event.message_id
    if event.call_id:
        frame["call_id"] = event.call_id
    return frame


def usage_json(usage: UsageTotals) -> dict[str, Any]:
    """Return the totals as frames and answers carry them; money in dollars."""
    micros = usage.cost_usd_micros
    return {
        "input": usage.input,
        "output": usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "cost_usd": None if micros is None else micros / MICROS_PER_USD,
        "certain": usage.certain,
    }


def run_json(run: RunState) -> dict[str, Any]:
    """Return what a `run` frame says; `reason` and `waiting_on` only where there is one."""
    answer: dict[str, Any] = {
        "run_id": run.run_id,
        "resume_token": run.resume_token,
        "status": run.status.value,
    }
    if run.reason:
        answer["reason"] = run.reason
    if run.waiting_on:
        answer["waiting_on"] = list(run.waiting_on)
    return answer


def run_frame(run: RunState) -> Frame:
    """Return where the run stands."""
    return {"type": FrameType.RUN.value, **run_json(run)}


def usage_frame(run: RunState) -> Frame:
    """Return what the run has used."""
    return {"type": FrameType.USAGE.value, "run_id": run.run_id, **usage_json(run.usage)}


def gate_frame(gate: Mapping[str, Any]) -> Frame:
    """Return a gate, as the table of gates tells it."""
    return {"type": FrameType.GATE.value, **gate}


def end_frame(run: RunState) -> Frame:
    """Return the last frame of an ended run: `error` where it failed, else `done`."""
    if run.status is RunStatus.FAILED:
        error = run.error or {}
        return error_frame(
            code=str(error.get("code") or run.reason or "run_failed"),
            message=str(error.get("message") or "The run failed."),
        )
    return {
        "type": FrameType.DONE.value,
        "run_id": run.run_id,
        "final": None if run.final is None else dict(run.final),
        "stop_reason": run.stop_reason or StopReason.UNKNOWN.value,
        "usage": usage_json(run.usage),
    }


def error_frame(*, code: str, message: str) -> Frame:
    """Return why the stream cannot go on."""
    return {"type": FrameType.ERROR.value, "code": code, "message": message}


def text_frame(kind: FrameType, *, message_id: str, offset: int, text: str) -> Frame:
    """Return text that is not logged yet and begins at a character of its message; offset 0
    replaces what was there.
    """
    return {"type": kind.value, "message_id": message_id, "offset": offset, "text": text}


def text_reset_frame(message_id: str) -> Frame:
    """Return that an attempt failed: its text is to be forgotten."""
    return {"type": FrameType.TEXT_RESET.value, "message_id": message_id}


def snapshot_frame(
    *,
    thread: ThreadState,
    run: RunState | None,
    events: Sequence[Event],
    has_more: bool,
    gates: Sequence[Mapping[str, Any]],
    branches: Sequence[BranchState],
) -> Frame:
    """Return a thread as it is: its newest run with that run's gates, and the newest events of its
    active branch.
    """
    return {
        "type": FrameType.SNAPSHOT.value,
        "thread": {
            "thread_id": thread.thread_id,
            "leaf_seq": thread.leaf_seq,
            "leaf_epoch": thread.leaf_epoch,
            "active_branch": thread.active_branch,
            "name": thread.name,
        },
        "run": None if run is None else {**run_json(run), "usage": usage_json(run.usage)},
        "events": [event_frame(event) for event in events],
        "has_more": has_more,
        "gates": [gate_frame(gate) for gate in gates],
        "branches": [branch_json(branch) for branch in branches],
    }


def branch_json(branch: BranchState) -> dict[str, Any]:
    """Return a branch as a snapshot lists it."""
    return {
        "branch_id": branch.branch_id,
        "parent_branch_id": branch.parent,
        "from_seq": branch.from_seq,
    }


def sse_field(frame: Frame, *, next_seq: int | None = None) -> bytes:
    """Return the frame as one field of an event stream.

    Args:
        next_seq: The `id:` line, the cursor behind this frame; None for every frame but `event`
            and `snapshot`.
    """
    # A lone surrogate has no UTF-8; written as a backslash escape it is the same text in JSON.
    body = json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "backslashreplace"
    )
    return (
        b"data: %b\n\n" % body if next_seq is None else b"id: %d\ndata: %b\n\n" % (next_seq, body)
    )
