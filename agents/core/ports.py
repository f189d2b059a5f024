"""What a driver needs from outside besides the Store.

A clock, readers of its text, threads for its tools.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from agents.core.store import Store
from agents.core.tools.base import ToolContext

T = TypeVar("T")


class TextSink(Protocol):
    """Where text goes while a model writes it. Best effort.

    Nothing here is the truth, the log is.
    """

    def begin(self, message_id: str) -> None:
        """A message begins; text of an earlier attempt at it is to be forgotten."""

    def text(self, message_id: str, more: str) -> None:
        """More visible text of the message."""

    def thinking(self, message_id: str, more: str) -> None:
        """More readable reasoning of the message."""

    def end(self, message_id: str) -> None:
        """The message is committed, or given up; nothing more of it comes."""


class Threads(Protocol):
    """Runs blocking work beside the loop."""

    async def run(self, work: Callable[[], T]) -> T:
        """Return what the work returns; cancelling the caller does not stop it."""


class Clock(Protocol):
    """Time as the core uses it."""

    def now_ms(self) -> int:
        """Return the time as epoch milliseconds."""

    def monotonic(self) -> float:
        """Return seconds that never jump."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything a driver reaches outside itself."""

    store: Store
    sink: TextSink
    threads: Threads
    clock: Clock
    tool_context: Callable[[str], ToolContext]
