"""What crosses Redis: rings and text of workers, and what is done after the connection was lost."""

import socket
import subprocess
import threading
import time

import pytest
from redis import Redis
from redis.exceptions import RedisError

from agents import doorbells
from agents.live.listening import Listener

PATIENCE_SECONDS = 15


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(port: int) -> subprocess.Popen:
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""],
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + PATIENCE_SECONDS
    client = Redis(port=port)
    while time.monotonic() < deadline:
        try:
            client.ping()
            client.close()
            return server
        except RedisError:
            time.sleep(0.02)
    raise AssertionError("Redis did not start")


class Heard:
    """What came, with a way to wait for it."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.connections = 0
        self._changed = threading.Condition()

    def take(self, message: bytes) -> None:
        with self._changed:
            self.messages.append(message)
            self._changed.notify_all()

    def connected(self) -> None:
        with self._changed:
            self.connections += 1
            self._changed.notify_all()

    def wait(self, holds) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: holds(self), PATIENCE_SECONDS)


@pytest.fixture
def redis(settings):
    port = free_port()
    settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
    doorbells.redis_client.cache_clear()
    servers = [start(port)]
    yield port, servers
    doorbells.redis_client().close()
    doorbells.redis_client.cache_clear()
    servers[-1].terminate()
    servers[-1].wait(timeout=10)


@pytest.fixture
def heard(redis):
    heard = Heard()
    listener = Listener(channel=doorbells.CHANNEL, heard=heard.take, connected=heard.connected)
    listener.start()
    heard.wait(lambda h: h.connections == 1)
    yield heard
    listener.close()
    listener.join(timeout=10)
    assert not listener.is_alive()


def test_rings_and_text_of_a_worker_are_heard_in_their_order(heard):
    bell = doorbells.RedisDoorbell()
    frame = {"type": "text_delta", "run_id": "r", "message_id": "m", "offset": 0, "text": "é"}

    doorbells._publish_to_redis(7, frame)
    bell.thread_changed(7)
    heard.wait(lambda h: len(h.messages) == 2)

    assert b'"frame"' in heard.messages[0]
    assert heard.messages[1] == b'{"thread": 7}'


def test_after_a_lost_connection_it_listens_again_and_says_so(redis, heard):
    port, servers = redis
    servers[-1].kill()
    servers[-1].wait(timeout=10)
    servers.append(start(port))

    heard.wait(lambda h: h.connections == 2)
    doorbells.redis_client.cache_clear()
    doorbells.RedisDoorbell().thread_changed(8)
    heard.wait(lambda h: h.messages)

    assert heard.messages == [b'{"thread": 8}']


def test_a_message_that_cannot_be_taken_does_not_end_the_listening(redis):
    heard = Heard()

    def take(message: bytes) -> None:
        if message == b"bad":
            raise ValueError("no message of ours")
        heard.take(message)

    listener = Listener(channel=doorbells.CHANNEL, heard=take, connected=heard.connected)
    listener.start()
    heard.wait(lambda h: h.connections == 1)

    for message in ("bad", "good"):
        doorbells.redis_client().publish(doorbells.CHANNEL, message)
    heard.wait(lambda h: h.messages)

    listener.close()
    listener.join(timeout=10)
    assert heard.messages == [b"good"]
