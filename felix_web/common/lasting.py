"""Threads that last as long as their process, and what /ready says of those that did not."""

from __future__ import annotations

import logging
import threading

log = logging.getLogger(__name__)

_watched: set[threading.Thread] = set()


def watch(thread: threading.Thread) -> None:
    """The thread is missed from now on where it should end before `let_go`."""
    _watched.add(thread)


def let_go(thread: threading.Thread) -> None:
    """The thread may end."""
    _watched.discard(thread)


def missing_threads() -> list[str]:
    """Return the names of this process's lasting threads that ended without being let go."""
    return sorted(thread.name for thread in list(_watched) if not thread.is_alive())


class LastingThread(threading.Thread):
    """Takes a turn after each pause until `close`; subclasses say what a turn does.

    One that raises is logged, and the next one comes.

    Args:
        pause_seconds: Between two turns, and before the first.
    """

    def __init__(self, name: str, *, pause_seconds: float) -> None:
        super().__init__(name=name, daemon=True)
        self.pause_seconds = pause_seconds
        self.closing = threading.Event()

    def start(self) -> None:
        """The thread runs, and is watched."""
        super().start()
        watch(self)

    def run(self) -> None:
        """Take turns until `close`."""
        while not self.closing.wait(self.pause_seconds):
            try:
                self.turn()
            except Exception as error:
                log.exception(
                    "turn_failed", extra={"worker": self.name, "error": type(error).__name__}
                )
        self.ended()

    def turn(self) -> None:
        """Do what the thread is for, once."""
        raise NotImplementedError

    def ended(self) -> None:
        """Let go of what the thread held; called on it after its last turn."""

    def close(self) -> None:
        """The thread ends after the turn under way."""
        let_go(self)
        self.closing.set()
