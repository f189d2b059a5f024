"""The tables of the log; Django finds models here."""

from sessions.models.event import Event, Output
from sessions.models.idempotency import IdempotencyKey
from sessions.models.run import Run
from sessions.models.thread import Branch, Thread, ThreadKind
from sessions.models.usage import ModelRequest

__all__ = [
    "Branch",
    "Event",
    "IdempotencyKey",
    "ModelRequest",
    "Output",
    "Run",
    "Thread",
    "ThreadKind",
]
