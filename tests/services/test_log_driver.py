"""The driver on the real store: linear in queries, and its calls outlive a stop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection

from agents.core.driver import Driver
from agents.core.limits import Limits
from agents.core.tools.base import ToolArgs, ToolContext
from agents.engine import Engine
from agents.services.claiming import take_run
from agents.services.stopping import abort_run
from sessions.core.states import RunStatus
from sessions.models import Event, Run
from tests import make, people
from tests.services.machine_driver import (
    Script,
    call,
    drive,
    let_go,
    on_each_thread,
    on_own_connection,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
STEPS = 200


@pytest.fixture
def row() -> Run:
    make.manifest()
    return make.run()


class Counted:
    """How many statements the store's threads made, and where each model call found the count."""

    def __init__(self) -> None:
        self.total = 0
        self.marks: list[int] = []

    def __call__(self, execute: Callable[..., Any], *statement: Any) -> Any:
        self.total += 1
        return execute(*statement)

    def watch(self) -> None:
        connection.execute_wrappers.append(self)

    def mark(self) -> None:
        self.marks.append(self.total)

    def per_step(self) -> list[int]:
        return [later - sooner for sooner, later in pairwise(self.marks)]


def without_limits(driver: Driver) -> None:
    driver.view.facts = replace(driver.view.facts, limits=Limits(1000, 3600, 1000))


def test_a_run_of_two_hundred_steps_makes_as_many_queries_in_the_last_as_in_the_first(row: Run):
    counted = Counted()
    asks = [[call("calculator", f"c{n}", expression=f"{n}+1")] for n in range(STEPS)]
    script = Script([*asks, "Counted."], each=counted.mark)

    ended = drive(row, script, adjust=without_limits, on_threads=counted.watch)

    steps = counted.per_step()
    assert (ended.status, len(steps)) == (RunStatus.DONE, STEPS)
    assert len(set(steps[1:])) == 1
    assert sum(steps[:10]) == sum(steps[-10:])


def test_a_call_that_ends_after_the_stop_is_recorded_and_the_model_is_asked_no_more(row: Run):
    script = Script([[call("calculator", "c1", expression="1+1")], "Never said."])
    alice, thread = people.alice(), row.thread

    def stopped_meanwhile(driver: Driver) -> None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None

        def run(args: ToolArgs, ctx: ToolContext) -> str:
            on_own_connection(lambda: abort_run(principal=alice, thread=thread))
            loop.call_soon_threadsafe(task.cancel)
            assert ctx.cancelled.wait(5)
            return "it took effect"

        tools = dict(driver.policy.tools)
        tools["calculator"] = replace(tools["calculator"], run=run)
        driver.policy = replace(driver.policy, tools=tools)

    with pytest.raises(asyncio.CancelledError):
        drive(row, script, adjust=stopped_meanwhile)

    result = Event.objects.get(thread=thread, kind="tool_result")
    assert result.payload["content"] == "it took effect"
    assert len(script.prompts) == 1


@pytest.fixture
def engine(settings: Any) -> Iterator[Engine]:
    settings.LEASE_SECONDS = 2.0
    made = Engine(publish=lambda *_: None)
    made.start()
    yield made
    pool = made._bench.bridge._pool
    on_each_thread(pool, pool._max_workers, let_go)
    made.close()
    made._loop.close()


def test_three_busy_seconds_on_the_event_loop_do_not_lose_the_lease(row: Run, engine: Engine):
    driving = engine.submit(row.pk)
    until = time.monotonic() + 10
    while not engine._claimed_runs() and time.monotonic() < until:
        time.sleep(0.001)

    engine._loop.call_soon_threadsafe(time.sleep, 3.0)
    taken = _tried_to_take_it(row, seconds=2.8)
    was = Run.objects.get(pk=row.pk).status
    driving.result(30)

    row.refresh_from_db()
    assert (taken, was) == ({None}, RunStatus.RUNNING)
    assert row.fence == 1
    assert row.status in (RunStatus.DONE, RunStatus.WAITING)


def _tried_to_take_it(row: Run, *, seconds: float) -> set[Any]:
    until = time.monotonic() + seconds
    found = set()
    while time.monotonic() < until:
        found.add(take_run(run_id=row.pk, owner="thief", lease_seconds=60))
        time.sleep(0.05)
    return found
