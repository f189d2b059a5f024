"""An in-process broker that wakes its consumer at once.

Kombu's memory transport without the polling.

Kombu's own memory transport sleeps between looks at its queues; this one waits for a bell that
every message rings.
"""

from __future__ import annotations

import threading
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, memory

SCHEME = "felix-embedded"


class Bell:
    """Counts its rings, so that one between a look and the wait that follows is not missed."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.rings = 0

    def ring(self) -> None:
        """Wake every waiter."""
        with self._changed:
            self.rings += 1
            self._changed.notify_all()

    def wait_after(self, rings: int, timeout: float) -> bool:
        """Return True once the bell rang more often than `rings`, False when the time is over."""
        with self._changed:
            return self._changed.wait_for(lambda: self.rings != rings, timeout)


BELL = Bell()


class Channel(memory.Channel):
    """A memory channel that rings when a message comes in."""

    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:
        super()._put(queue, message, **kwargs)  # type: ignore[no-untyped-call]
        BELL.ring()


class Transport(memory.Transport):
    """Delivers messages between threads of this process."""

    Channel = Channel
    driver_name = SCHEME

    def drain_events(self, connection: Any, timeout: Any = None) -> None:  # type: ignore[override]
        """Deliver one message.

        Raises:
            TimeoutError: none came in time; Celery's loop expects this and looks at its other
                duties.
        """
        assert self.cycle is not None
        while True:
            rings = BELL.rings
            try:
                self.cycle.get(self._deliver, timeout=timeout)  # type: ignore[no-untyped-call]
                return
            except Empty:
                if not BELL.wait_after(rings, 1.0 if timeout is None else timeout):
                    raise TimeoutError from None


def register() -> None:
    """The scheme `felix-embedded://` names this transport."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
