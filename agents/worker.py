"""What a worker process does beside Celery's own.

It opens its engine, listens for stops, and closes warmly.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

from celery.signals import worker_shutting_down

from agents.doorbells import STOP_CHANNEL, redis_client
from agents.engine import engine

log = logging.getLogger(__name__)

QUIET_SECONDS = 1.0


class StopListener(threading.Thread):
    """Ends the driver of a run that was stopped elsewhere, as soon as Redis tells.

    Without Redis the lease keeper sees it within a second.
    """

    def __init__(self) -> None:
        super().__init__(name="felix-stops", daemon=True)
        self._closing = threading.Event()

    def run(self) -> None:
        """Listen until `close`, again after every loss of the connection."""
        from redis.exceptions import RedisError

        while not self._closing.is_set():
            try:
                self._listen()
            except RedisError as error:
                log.warning("stops_not_heard", extra={"error": type(error).__name__})
                self._closing.wait(QUIET_SECONDS)

    def _listen(self) -> None:
        with redis_client().pubsub(ignore_subscribe_messages=True) as ears:
            ears.subscribe(STOP_CHANNEL)
            while not self._closing.is_set():
                message = ears.get_message(timeout=QUIET_SECONDS)
                if message is not None:
                    engine().stop(message["data"].decode("ascii", "replace"))

    def close(self) -> None:
        """The thread ends within a second."""
        self._closing.set()


def open_worker() -> None:
    """The engine runs; a shutdown lets each run end its step and frees its lease."""
    engine()
    listener = StopListener()
    listener.start()

    def close_warmly(**kwargs: Any) -> None:
        """Celery calls this in its signal handler, where nothing may wait.

        The runs' tasks end as the engine closes.
        """
        listener.close()
        threading.Thread(target=engine().close, name="felix-closing").start()

    worker_shutting_down.connect(close_warmly, weak=False)
