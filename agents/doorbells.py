"""The Doorbell of a process: Celery for runs, the hub or Redis for readers (decisions 3.7, 3.9)."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from django.conf import settings

from agents.deltas import Publish

log = logging.getLogger(__name__)

CHANNEL = "felix:hub"
"""Redis channel of hub messages: {"thread": id} rings, {"thread": id, "frame".

{...}} carries text.
"""
STOP_CHANNEL = "felix:stop"
REST_SECONDS = 1.0


def _send(name: str, run_id: str) -> None:
    from felix_web.celery import app

    app.send_task(name, args=[run_id], retry=False, ignore_result=True)


def _quietly(ring: Callable[[], object], what: str) -> None:
    """A ring that fails costs latency, not the act that rang: sweeps and polls find it."""
    from kombu.exceptions import OperationalError
    from redis.exceptions import RedisError

    try:
        ring()
    except (OperationalError, RedisError, OSError) as error:
        log.warning("doorbell_silent", extra={"what": what, "error": type(error).__name__})


class EmbeddedDoorbell:
    """Web, worker and readers in one process."""

    def run_ready(self, run_id: str) -> None:
        """See Doorbell.run_ready."""
        _quietly(lambda: _send("agents.drive", run_id), "run")

    def run_stopped(self, run_id: str) -> None:
        """See Doorbell.run_stopped."""
        from agents.engine import engine

        _quietly(lambda: engine().stop(run_id), "stop")

    def thread_changed(self, thread_id: int) -> None:
        """See Doorbell.thread_changed."""
        from agents.hub import hub

        hub().ring(thread_id)


class RedisDoorbell:
    """Processes apart, Redis between them."""

    def run_ready(self, run_id: str) -> None:
        """See Doorbell.run_ready."""
        _quietly(lambda: _send("agents.drive", run_id), "run")

    def run_stopped(self, run_id: str) -> None:
        """See Doorbell.run_stopped."""
        _publish(STOP_CHANNEL, run_id, "stop")

    def thread_changed(self, thread_id: int) -> None:
        """See Doorbell.thread_changed."""
        _publish(CHANNEL, json.dumps({"thread": thread_id}), "thread")


@cache
def redis_client() -> Any:
    """Return this process's sync Redis client; a call takes half a second at most."""
    from redis import Redis

    return Redis.from_url(settings.REDIS_URL, socket_timeout=0.5, socket_connect_timeout=0.5)


def publisher() -> Publish:
    """Return where a driver's text goes."""
    if settings.IS_EMBEDDED:
        from agents.hub import hub

        return hub().carry
    return _publish_to_redis


def _publish_to_redis(thread_id: int, frame: dict[str, Any]) -> None:
    _publish(CHANNEL, json.dumps({"thread": thread_id, "frame": frame}), "text")


_silent_until = [0.0]


def _publish(channel: str, message: str, what: str) -> None:
    """The message is on its way, or Redis failed within the last second and was not asked again.

    A driver's loop publishes: were each message to wait for a Redis that does not answer, all runs
    of the process would stand still.
    """

    def send() -> None:
        if time.monotonic() < _silent_until[0]:
            return
        _silent_until[0] = time.monotonic() + REST_SECONDS
        redis_client().publish(channel, message)
        _silent_until[0] = 0.0

    _quietly(send, what)
