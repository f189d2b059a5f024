"""Events: what happened on a thread, in order. The log is made of nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

PAYLOAD_VERSION = 1


class EventKind(StrEnum):
    """What an event says (decisions 2.4). The payload's keys stand behind each."""

    USER_MESSAGE = "user_message"  # content
    ASSISTANT_MESSAGE = (
        "assistant_message"  # content, thinking, tool_calls [{id, name, args}], stop_reason, model
    )
    # tool, tool_digest, args_digest, replay_safe, edited_args?, gate_id?, grant_id?
    CALL_STARTED = "call_started"
    # tool, status, content, output_id?, total_chars?, started_ms?, gate?, grant?
    TOOL_RESULT = "tool_result"
    RUN_STARTED = "run_started"  # manifest, version, model, mode, scripted
    RUN_FINISHED = "run_finished"  # status, reason, stop_reason, by?
    STEER = "steer"
    FOLLOW_UP = "follow_up"
    REWOUND = "rewound"  # branch_id, from_seq, epoch
    COMPACTION = "compaction"
    BRANCH_SUMMARY = "branch_summary"
    NOTE = "note"
    SETTLED = "settled"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event before it has a place in the log.

    `payload` may leave the server. `sealed` (signatures, encrypted items) is read by the provider
    adapter only.
    """

    kind: EventKind
    payload: dict[str, Any]
    message_id: str = ""
    call_id: str = ""
    sealed: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """A committed event. `seq` is dense per thread from 0.

    `branch` is the branch's number on its thread.
    """

    seq: int
    branch: int
    kind: EventKind
    run_id: str | None
    ts_ms: int
    payload: dict[str, Any]
    message_id: str = ""
    call_id: str = ""
    sealed: dict[str, Any] | None = field(default=None, repr=False)
