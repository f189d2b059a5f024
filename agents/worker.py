"""What a worker process does beside Celery's own.

It opens its engine, sweeps, listens for stops, and closes warmly.
"""

from __future__ import annotations

import threading
from typing import Any

from celery.signals import worker_shutting_down

from agents.doorbells import STOP_CHANNEL
from agents.engine import engine
from agents.live.listening import Listener
from agents.sweeper import SweepThread


def stop_listener() -> Listener:
    """Return what ends the driver of a run that was stopped elsewhere, as soon as Redis tells."""

    def heard(data: bytes) -> None:
        engine().stop(data.decode("ascii", "replace"))

    # What was missed while Redis was away, the lease keeper's look finds within a second.
    return Listener(channel=STOP_CHANNEL, heard=heard, connected=lambda: None)


def open_worker() -> None:
    """The engine runs; a shutdown lets each run end its step and frees its lease."""
    engine()
    threads = (stop_listener(), SweepThread())
    for thread in threads:
        thread.start()

    def close_warmly(**kwargs: Any) -> None:
        """Celery calls this in its signal handler, where nothing may wait.

        The runs' tasks end as the engine closes.
        """
        for thread in threads:
            thread.close()
        threading.Thread(target=engine().close, name="felix-closing").start()

    worker_shutting_down.connect(close_warmly, weak=False)
