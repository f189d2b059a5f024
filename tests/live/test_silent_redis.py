"""A Redis that takes connections and never answers."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from agents import doorbells


class Swallowing:
    """A port that takes whatever comes and says nothing."""

    def __init__(self) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=50)
        self.listening.setblocking(False)
        self.port = self.listening.getsockname()[1]

    def callers(self) -> int:
        """How many came since the last look."""
        count = 0
        while True:
            try:
                self.listening.accept()[0].close()
            except BlockingIOError:
                return count
            count += 1


@pytest.fixture
def swallowing(settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Swallowing]:
    made = Swallowing()
    settings.REDIS_URL = f"redis://127.0.0.1:{made.port}/0"
    monkeypatch.setattr(doorbells, "_silent_until", [0.0])
    doorbells.redis_client.cache_clear()
    yield made
    doorbells.redis_client().close()
    doorbells.redis_client.cache_clear()
    made.listening.close()


def test_after_a_failure_nobody_waits_for_it_again_for_a_while(swallowing: Swallowing):
    doorbells._publish_to_redis(7, {"type": "text_delta"})
    assert swallowing.callers() > 0

    for _ in range(5):
        doorbells._publish_to_redis(7, {"type": "text_delta"})
        doorbells.RedisDoorbell().thread_changed(7)

    assert swallowing.callers() == 0


def test_once_the_rest_is_over_it_is_tried_again(swallowing: Swallowing):
    doorbells._publish_to_redis(7, {"type": "text_delta"})
    swallowing.callers()

    doorbells._silent_until[0] = 0.0
    doorbells._publish_to_redis(7, {"type": "text_delta"})

    assert swallowing.callers() > 0
