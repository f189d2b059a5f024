"""What a worker process does beside Celery's own.

It opens its engine, listens for stops, goes on without Redis, and closes warmly.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from celery.signals import worker_shutting_down
from django.db import Error, connection

from agents.doorbells import STOP_CHANNEL, redis_client
from agents.engine import engine
from agents.services.sweeping import claimable_runs, expire_due_gates, expire_due_runs

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
RECONNECT_SECONDS = 35.0
"""Celery looks for a lost broker at growing intervals, of 30 s at most."""


class RedisListener(threading.Thread):
    """Ends the driver of a run that was stopped elsewhere, as soon as Redis tells.

    While Redis is away no message comes from anybody, the scheduler included: the thread then looks
    for work itself, every second, until Celery has had time to find Redis again.
    """

    def __init__(self) -> None:
        super().__init__(name="felix-redis", daemon=True)
        self._closing = threading.Event()
        self._is_away = False
        self._alone_until = 0.0

    def run(self) -> None:
        """Listen until `close`, again after every loss of the connection."""
        from redis.exceptions import RedisError

        while not self._closing.is_set():
            try:
                self._listen()
            except RedisError as error:
                if not self._is_away:
                    log.warning("redis_away", extra={"error": type(error).__name__})
                self._is_away = True
                self._alone_until = time.monotonic() + RECONNECT_SECONDS
                drive_unrung()
                self._closing.wait(LOOK_SECONDS)

    def _listen(self) -> None:
        with redis_client().pubsub(ignore_subscribe_messages=True) as ears:
            ears.subscribe(STOP_CHANNEL)
            if self._is_away:
                log.info("redis_back")
            self._is_away = False
            while not self._closing.is_set():
                message = ears.get_message(timeout=LOOK_SECONDS)
                if message is not None:
                    engine().stop(message["data"].decode("ascii", "replace"))
                elif time.monotonic() < self._alone_until:
                    drive_unrung()

    def close(self) -> None:
        """The thread ends within a second."""
        self._closing.set()


def drive_unrung() -> None:
    """Deadlines are settled, and runs that wait for a worker are driven by this one.

    As many as it has slots for.
    """
    try:
        expire_due_gates()
        expire_due_runs()
        for run_id, _ in claimable_runs()[: engine().free_slots]:
            engine().submit(run_id)
    except Error as error:
        log.warning("sweep_failed", extra={"error": type(error).__name__})
    finally:
        connection.close()


def open_worker() -> None:
    """The engine runs; a shutdown lets each run end its step and frees its lease."""
    engine()
    listener = RedisListener()
    listener.start()

    def close_warmly(**kwargs: Any) -> None:
        """Celery calls this in its signal handler, where nothing may wait.

        The runs' tasks end as the engine closes.
        """
        listener.close()
        threading.Thread(target=engine().close, name="felix-closing").start()

    worker_shutting_down.connect(close_warmly, weak=False)
