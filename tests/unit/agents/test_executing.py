"""Which calls run together, what is written before them, and how a stopped one ends."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from agents.core import executing
from agents.core.controls.base import Allow, Candidate, Verdict
from agents.core.controls.front import evaluate
from agents.core.executing import (
    batch_of,
    heed_stop,
    needs_own_start,
    riding_starts,
    run_call,
    start_of,
)
from agents.core.ports import Ports
from agents.core.tools.base import ToolContext
from approvals.core.gate import GateStatus
from approvals.core.rules import ApprovalRule
from felix_web.common.digests import digest
from sessions.core.states import CallStatus
from tests.unit.agents.facts import (
    PathArgs,
    answered,
    context,
    contract,
    gate,
    policy,
    started,
    tools,
    view,
)
from tests.unit.agents.test_controls import STANDING, WRITES, grant

T = TypeVar("T")


def allowed(*calls: str, gates: Any = (), **by: Any) -> list[Allow]:
    seen = view(answered(*calls), gates=gates)
    rules = by.pop("rules", ())
    found: list[Verdict] = evaluate(list(seen.open_calls.values()), seen, policy(*rules, **by))
    return [verdict for verdict in found if isinstance(verdict, Allow)]


def ids(batch: list[Candidate]) -> list[str]:
    return [candidate.call.call_id for candidate in batch]


def test_calls_run_one_after_the_other_unless_the_agent_says_otherwise():
    assert ids(batch_of(allowed("look", "look"), parallel=False)) == ["c0"]


def test_leading_replay_safe_calls_may_run_side_by_side():
    assert ids(batch_of(allowed("look", "again", "act", "look"), parallel=True)) == ["c0", "c1"]


def test_a_call_with_an_effect_runs_alone():
    assert ids(batch_of(allowed("act", "look"), parallel=True)) == ["c0"]


def test_a_call_under_a_grant_runs_alone_since_its_grant_is_checked_at_its_own_start():
    read = tools()["look"]
    rule = ApprovalRule("reads", tools=("look",), one_shot=False)
    standing = replace(grant(), tool="look", tool_digest=read.digest, rule_id="reads", preimage="")

    batch = batch_of(allowed("look", "again", rules=[rule], grants=[standing]), parallel=True)

    assert ids(batch) == ["c0"]


def test_an_effect_is_started_in_a_commit_of_its_own():
    [verdict] = allowed("act")

    assert needs_own_start(verdict.candidate)
    assert riding_starts([verdict], parallel=False) == []


def test_the_start_of_a_replay_safe_call_may_ride():
    [verdict] = allowed("again")

    assert not needs_own_start(verdict.candidate)
    assert [one.event.call_id for one in riding_starts([verdict], parallel=False)] == ["c0"]


def test_an_approval_is_spent_in_a_commit_of_its_own():
    settled = gate("c0", GateStatus.ANSWERED, bound=contract())

    [verdict] = allowed("write", gates=[settled], rules=[WRITES])

    assert needs_own_start(verdict.candidate)
    begun = start_of(verdict.candidate)
    assert begun.gate_id == begun.event.payload["gate_id"] == "gate_1"


def test_the_start_under_a_grant_names_it():
    [verdict] = allowed("write", rules=[STANDING], grants=[grant()])

    begun = start_of(verdict.candidate)
    assert begun.grant_id == begun.event.payload["grant_id"] == "g"


async def test_a_call_under_a_grant_is_held_to_the_state_it_was_granted_on_and_says_so():
    seen: list[str | None] = []

    def run(args: PathArgs, ctx: ToolContext) -> str:
        seen.append(ctx.preimage)
        return "done"

    known = {**tools(), "write": replace(tools()["write"], run=run)}
    [verdict] = allowed("write", rules=[STANDING], grants=[grant()], known=known)
    no_store: Any = None

    end = await run_call(
        verdict.candidate, Ports(no_store, no_store, OneThread(), RealClock(), context)
    )

    assert seen == ["absent"]
    assert end.grant == {"grant_id": "g", "gate_id": "gate_1", "granted_by": "bob"}


def test_no_start_rides_while_another_call_of_the_message_must_wait():
    seen = view(answered("look", "write"))
    found = evaluate(list(seen.open_calls.values()), seen, policy(WRITES))

    assert riding_starts(found, parallel=False) == []


def test_a_call_that_was_started_before_needs_no_second_start():
    seen = view(answered("again"), started("c0"))
    [verdict] = evaluate(list(seen.open_calls.values()), seen, policy())

    assert not needs_own_start(verdict.candidate)


def test_a_start_tells_what_runs_and_shows_arguments_only_where_they_were_edited():
    args = {"path": "a", "text": "mine"}
    settled = gate(
        "c0", GateStatus.ANSWERED, bound=contract(args_digest=digest(args)), edited_args=args
    )

    [plain] = allowed("act")
    [edited] = allowed("write", gates=[settled], rules=[WRITES])

    told = {"tool", "tool_digest", "args_digest", "replay_safe"}
    assert set(start_of(plain.candidate).event.payload) == told
    assert start_of(edited.candidate).event.payload["edited_args"] == args


# A stop while a call runs.


class OneThread:
    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1)

    async def run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.pool, work)


class RealClock:
    def now_ms(self) -> int:
        return 1

    def monotonic(self) -> float:
        return time.monotonic()


class Slow:
    """A tool that ends when it is let, whatever it is told."""

    def __init__(self) -> None:
        self.begun, self.may_end, self.was_told = (threading.Event() for _ in range(3))

    def run(self, args: PathArgs, ctx: ToolContext) -> str:
        self.begun.set()
        self.may_end.wait(10)
        if ctx.cancelled.is_set():
            self.was_told.set()
        return "it had its effect"


async def running(slow: Slow, store: Any = None) -> Any:
    known = {**tools(), "act": replace(tools()["act"], run=slow.run)}
    [verdict] = allowed("act", known=known)
    no_sink: Any = None
    ports = Ports(store, no_sink, OneThread(), RealClock(), context)
    return await run_call(verdict.candidate, ports)


async def begun(slow: Slow, store: Any = None) -> asyncio.Task[Any]:
    task = asyncio.ensure_future(running(slow, store))
    await asyncio.to_thread(slow.begun.wait, 10)
    return task


async def test_a_stopped_call_is_told_and_its_effect_is_known():
    slow = Slow()
    task = await begun(slow)

    task.cancel()
    await asyncio.sleep(0)
    slow.may_end.set()

    assert (await task).status is CallStatus.DONE
    assert slow.was_told.is_set()


async def test_a_stop_that_is_said_twice_does_not_cut_the_time_short():
    slow = Slow()
    task = await begun(slow)

    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0.01)
    slow.may_end.set()

    assert (await task).content == "it had its effect"


async def test_a_call_that_does_not_end_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(executing, "GRACE_SECONDS", 0.05)
    slow = Slow()
    task = await begun(slow)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    slow.may_end.set()


async def test_a_driver_that_let_a_call_end_heeds_the_stop_afterwards():
    slow = Slow()

    async def driver() -> None:
        await running(slow)
        heed_stop()
        raise AssertionError("it went on")

    task = asyncio.ensure_future(driver())
    await asyncio.to_thread(slow.begun.wait, 10)
    task.cancel()
    await asyncio.sleep(0)
    slow.may_end.set()

    with pytest.raises(asyncio.CancelledError):
        await task


class LateBox:
    """Takes what comes late."""

    def __init__(self) -> None:
        self.came = asyncio.Event()
        self.closed: list[Any] = []

    def bring_late(self, closed: Any) -> None:
        self.closed += closed
        self.came.set()


async def test_the_outcome_of_a_call_that_was_given_up_is_brought_when_it_comes(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(executing, "GRACE_SECONDS", 0.05)
    slow, late = Slow(), LateBox()
    task = await begun(slow, late)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    slow.may_end.set()
    await asyncio.wait_for(late.came.wait(), 10)

    assert [(end.content, end.started_ms) for end in late.closed] == [("it had its effect", 1)]
