"""The closed sets of what a run and a call can be (decisions 2.5)."""

from __future__ import annotations

from enum import StrEnum


class RunStatus(StrEnum):
    """Where a run stands; `done`, `failed`, `stopped` and `expired` are final."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    EXPIRED = "expired"

    @property
    def is_active(self) -> bool:
        """True while the run holds its thread."""
        return self in ACTIVE_STATUSES


ACTIVE_STATUSES = frozenset({RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING})


class RunMode(StrEnum):
    """Whether the sender waits for the end (`transient`) or comes back with a token (`durable`)."""

    TRANSIENT = "transient"
    DURABLE = "durable"


class CallStatus(StrEnum):
    """Where one call of a message stands."""

    PROPOSED = "proposed"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DENIED = "denied"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"


class StopReason(StrEnum):
    """Why the last model answer, or the run, ended (spec/wire.md 2.2)."""

    END_TURN = "end_turn"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    MAX_TURNS = "max_turns"
    REFUSAL = "refusal"
    ABORTED = "aborted"
    SUPERSEDED = "superseded"
    LIMIT = "limit"
    ERROR = "error"
    UNKNOWN = "unknown"
