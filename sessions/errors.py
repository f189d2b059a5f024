"""What can go wrong with threads and runs."""

from __future__ import annotations

from typing import ClassVar

from felix_web.common.errors import FelixError, InvalidInput, NotFound


class InvalidThreadId(InvalidInput):
    """A thread id has 1 to 128 characters and no colon, hash, slash or control character."""

    code: ClassVar[str] = "invalid_thread_id"
    title = "Invalid thread id"


class RunInProgress(FelixError):
    """The thread has a run that has not ended."""

    code: ClassVar[str] = "run_in_progress"
    title = "A run is in progress"
    hint = "Wait for it, decide its gate, or stop it; its resume_token is in this answer."


class UnknownEvent(NotFound):
    """The thread's log has no such event on a branch that can be rewound to."""

    code: ClassVar[str] = "unknown_event"
    title = "Unknown event"


class InvalidIdempotencyKey(InvalidInput):
    """An idempotency key has 1 to 255 visible ASCII characters."""

    code: ClassVar[str] = "invalid_idempotency_key"
    title = "Invalid idempotency key"


class IdempotencyInProgress(FelixError):
    """The request with this key is still going."""

    code: ClassVar[str] = "idempotency_in_progress"
    title = "In progress"
    hint = "Ask again with the same key once the run has ended, or follow its resume_token."


class IdempotencyKeyReused(FelixError):
    """This key was used with another body."""

    code: ClassVar[str] = "idempotency_key_reused"
    title = "Key reused"
    hint = "A key belongs to one request; make a new one."
