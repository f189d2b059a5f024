"""What a process hears from the others over Redis: a web process rings and text, a worker stops.

A message that is lost costs latency: polls and row checks are underneath. After each loss of the
connection the listener connects again, and has everything looked at that it may have missed.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from typing import Any

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

from agents.doorbells import CHANNEL

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
RETRY_SECONDS = 1.0
HEALTH_CHECK_SECONDS = 15


class Listener(threading.Thread):
    """Listens to one channel until `stop`.

    Args:
        heard: Takes each message, on this thread; returns at once and never raises.
        connected: Called whenever a subscription began, since messages before it were missed.
    """

    def __init__(
        self, *, channel: str, heard: Callable[[bytes], None], connected: Callable[[], None]
    ) -> None:
        super().__init__(name=f"felix-listener-{channel}", daemon=True)
        self._channel = channel
        self._heard = heard
        self._connected = connected
        self._closing = threading.Event()

    def run(self) -> None:
        """Listen, and connect again a second after each failure."""
        while not self._closing.is_set():
            try:
                self._listen()
            except RedisError as error:
                log.warning(
                    "listener_cut_off",
                    extra={"channel": self._channel, "error": type(error).__name__},
                )
                self._closing.wait(RETRY_SECONDS)

    def _listen(self) -> None:
        client: Any = Redis.from_url(
            settings.REDIS_URL,
            socket_connect_timeout=LOOK_SECONDS,
            health_check_interval=HEALTH_CHECK_SECONDS,
        )
        try:
            with client.pubsub() as channel:
                channel.subscribe(self._channel)
                while not self._closing.is_set():
                    self._take(channel.get_message(timeout=LOOK_SECONDS))
        finally:
            client.close()

    def _take(self, message: dict[str, Any] | None) -> None:
        if message is None:
            return
        if message["type"] == "subscribe":
            self._connected()
        elif message["type"] == "message":
            self._heard(message["data"])

    def stop(self) -> None:
        """The thread ends within a second."""
        self._closing.set()


def hub_listener() -> Listener:
    """Return what a web process starts: rings and text of all workers reach its hub."""
    from agents.hub import hub

    def heard(data: bytes) -> None:
        message = json.loads(data)
        if "frame" in message:
            hub().carry(message["thread"], message["frame"])
        else:
            hub().ring(message["thread"])

    return Listener(channel=CHANNEL, heard=heard, connected=hub().ring_all)
