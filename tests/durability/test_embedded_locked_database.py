"""Another process holds SQLite's write lock for longer than a lease: nothing is lost."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest

from tests.durability.client import Answer
from tests.durability.figures import repetitions
from tests.durability.harness import LEASE_SECONDS, Embedded
from tests.durability.processes import wait_for
from tests.durability.talk import Thread, append_call
from tests.fakes.provider import FakeProvider

# The longer one, of many repetitions by hand, is longer than a request waits for the lock.
HELD_SECONDS = [LEASE_SECONDS * 2, *([25.0] if repetitions() >= 20 else [])]


@contextmanager
def write_lock(felix: Embedded) -> Iterator[None]:
    """Hold the database's write lock, as a backup or a careless script would."""
    path = felix.data_dir / "felix.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            holder.execute("ROLLBACK")


@pytest.mark.parametrize("seconds", HELD_SECONDS)
def test_a_run_outlasts_a_lock_that_outlasts_its_lease(
    felix: Embedded, fake: FakeProvider, seconds: float
) -> None:
    thread, sent = Thread(felix), Thread(felix)
    asked = len(fake.requests)
    thread.send(f'{append_call("one")}\nwith {{"delay_ms": 400}}\nthen\nsay over')
    fake.wait_for_request(asked + 1)

    with ThreadPoolExecutor() as pool, write_lock(felix):
        sending = pool.submit(lambda: felix.client.post("/api/chat", sent.body("say late")))
        hold(felix, seconds)
    answer = sending.result(30)
    run = thread.finish(timeout=40)

    assert run["status"] == "done"
    assert thread.effects()["one"] <= 1
    thread.check_log()
    check_answer(answer)
    thread.check_usable()


def hold(felix: Embedded, seconds: float) -> None:
    """The lock was held this long, and the process went on answering what needs no write."""
    until = time.monotonic() + seconds
    wait_for(lambda: time.monotonic() > until, "the lock's time is over", seconds + 5)
    assert felix.client.ask("GET", "/live").status == 200


def check_answer(answer: Answer) -> None:
    """The request was taken, or it was refused in words a client can act on."""
    assert answer.status in (202, 503), answer.text
    if answer.status == 503:
        assert answer.body["code"] == "store_unavailable"
    assert "Traceback" not in answer.text
    assert "locked" not in answer.text
