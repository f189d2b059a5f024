"""SIGTERM and Ctrl-C: the step ends, the lease is free, and the next start goes on at once."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import pytest

from tests.durability.harness import Embedded
from tests.durability.talk import Thread, put_agents
from tests.fakes.provider import FakeProvider, Step

LONG_LEASE = 60.0
SHUTDOWN_SECONDS = 15.0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_warm_shutdown_frees_the_lease_and_the_next_start_goes_on_at_once(
    own: Callable[..., Embedded], fake: FakeProvider, number: signal.Signals
) -> None:
    felix = own(LEASE_SECONDS=f"{LONG_LEASE:g}")
    felix.start()
    put_agents(felix.client)
    thread = Thread(felix)
    asked = len(fake.requests)
    thread.send('call calculator {"expression": "1 + 1"}\nwith {"delay_ms": 700}\nthen\nsay over')
    fake.wait_for_request(asked + 1)

    felix.running.interrupt(number)
    code = felix.running.wait(SHUTDOWN_SECONDS)
    felix.start()
    run = thread.finish(timeout=LONG_LEASE / 2)

    assert code == 0
    assert "Traceback" not in felix.output
    assert run["final"]["content"] == "over"
    assert thread.results() == ["calculator: done"]
    assert len(fake.requests) == asked + 2
    thread.check_log()


def test_a_shutdown_does_not_wait_for_a_model_that_never_answers(
    own: Callable[..., Embedded], fake: FakeProvider
) -> None:
    felix = own(LEASE_SECONDS=f"{LONG_LEASE:g}")
    felix.start()
    put_agents(felix.client)
    thread = Thread(felix)
    asked = len(fake.requests)
    fake.script(Step(match=thread.name, hang=True))
    thread.send(f"say {thread.name}")
    fake.wait_for_request(asked + 1)

    began = time.monotonic()
    felix.running.interrupt()
    code = felix.running.wait(SHUTDOWN_SECONDS)
    took = time.monotonic() - began
    felix.start()
    run = thread.finish(timeout=LONG_LEASE / 2)

    assert code == 0
    assert took < SHUTDOWN_SECONDS
    assert run["final"]["content"] == thread.name
