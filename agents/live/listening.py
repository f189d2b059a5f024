"""What a process hears from the others over Redis: a web process rings and text, a worker stops.

A message that is lost costs latency: polls and row checks are underneath. After each loss of the
connection the listener connects again, and has everything looked at that it may have missed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

from agents.doorbells import CHANNEL
from felix_web.common.lasting import LastingThread

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
RETRY_SECONDS = 1.0
HEALTH_CHECK_SECONDS = 15


class Listener(LastingThread):
    """Listens to one channel until `close`.

    Args:
        heard: Takes each message, on this thread; returns at once. One that it cannot take is
            logged, and the next one comes.
        connected: Called whenever a subscription began, since messages before it were missed.
    """

    def __init__(
        self, *, channel: str, heard: Callable[[bytes], None], connected: Callable[[], None]
    ) -> None:
        super().__init__(f"felix-listener-{channel}", pause_seconds=0)
        self._channel = channel
        self._heard = heard
        self._connected = connected

    def turn(self) -> None:
        """Listen until the connection is lost; the next turn is a second after that."""
        try:
            self._listen()
        except RedisError as error:
            log.warning(
                "listener_cut_off",
                extra={"channel": self._channel, "error": type(error).__name__},
            )
        finally:
            self.pause_seconds = RETRY_SECONDS

    def _listen(self) -> None:
        client: Any = Redis.from_url(
            settings.REDIS_URL,
            socket_connect_timeout=LOOK_SECONDS,
            health_check_interval=HEALTH_CHECK_SECONDS,
        )
        try:
            with client.pubsub() as channel:
                channel.subscribe(self._channel)
                while not self.closing.is_set():
                    self._take(channel.get_message(timeout=LOOK_SECONDS))
        finally:
            client.close()

    def _take(self, message: dict[str, Any] | None) -> None:
        if message is None:
            return
        if message["type"] == "subscribe":
            self._connected()
        elif message["type"] == "message":
            self._hand_on(message["data"])

    def _hand_on(self, data: bytes) -> None:
        try:
            self._heard(data)
        except Exception as error:
            log.exception(
                "message_not_taken",
                extra={"channel": self._channel, "error": type(error).__name__},
            )


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
