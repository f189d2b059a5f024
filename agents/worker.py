"""What a worker process does beside Celery's own: it opens its engine, and closes it warmly."""

from __future__ import annotations

import threading
from typing import Any

from celery.signals import worker_shutting_down

from agents.engine import engine


def open_worker() -> None:
    """The engine runs; a shutdown lets each run end its step and frees its lease."""
    engine()
    worker_shutting_down.connect(_close_warmly, weak=False)


def _close_warmly(**kwargs: Any) -> None:
    """Celery calls this in its signal handler, where nothing may wait.

    The runs' tasks end as the engine closes.
    """
    threading.Thread(target=engine().close, name="felix-closing").start()
