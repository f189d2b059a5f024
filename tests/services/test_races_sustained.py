"""Decide, expire, rewind, append, claim and abort against each other, for a while."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable

import pytest
from django.db import connection

from agents.core.store import LeaseLost
from agents.services.claiming import take_run
from felix_web.common.ids import new_id
from tests.services.machine import MIX, TOOLS, Machine, Team
from tests.services.machine_worker import Calls, Worker
from tests.services.test_races_property import hurried

SECONDS = float(os.environ.get("FELIX_RACE_SECONDS", "10"))
THREADS = 3
FROM_OUTSIDE = [act for act in MIX if act not in ("work", "step", "crash", "claim", "give_back")]


class Rush:
    """What several people and workers do to a few threads, until the time is over."""

    def __init__(self) -> None:
        self.machines = [Machine() for _ in range(THREADS)]
        self.until = time.monotonic() + SECONDS
        self.done: Counter[str] = Counter()
        self.failed: list[BaseException] = []

    def keep_at(self, act: Callable[[random.Random], str], seed: int) -> None:
        """The act was done again and again; the first thing that went wrong is kept."""
        chance = random.Random(seed)
        try:
            hurried()
            while time.monotonic() < self.until and not self.failed:
                self.done[act(chance)] += 1
        except BaseException as error:
            self.failed.append(error)
        finally:
            connection.close()

    def disturb(self, chance: random.Random) -> str:
        machine, act = chance.choice(self.machines), chance.choice([*FROM_OUTSIDE, "decide"])
        machine.prepared(act, chance.randrange(12), [], flag=chance.random() < 0.3)()
        return act

    def work(self, chance: random.Random) -> str:
        """One claim, driven until it is over, lost or given up."""
        machine = chance.choice(self.machines)
        machine.lapse()
        run_id = machine.active()
        taken = run_id and take_run(run_id=run_id, owner=new_id("w"), lease_seconds=60)
        if not taken:
            return "nothing to claim"
        try:
            worker = Worker(taken, machine.world, parallel=chance.random() < 0.5)
        except LeaseLost:
            return "lost at once"
        while not worker.is_over and chance.random() < 0.95:
            worker.step(some_calls(chance))
        return "claim"


def some_calls(chance: random.Random) -> Calls:
    return [(chance.choice(TOOLS), chance.choice("ab")) for _ in range(chance.randrange(3))]


@pytest.fixture
def rush(transactional_db: None) -> Rush:
    Machine.team = Team()
    return Rush()


@pytest.mark.slow
def test_everybody_at_once_for_a_while_neither_deadlocks_nor_breaks_a_thread(
    rush: Rush, caplog: pytest.LogCaptureFixture
):
    acts = [rush.work, rush.work, rush.work, rush.disturb, rush.disturb, rush.disturb]
    busy = [
        threading.Thread(target=rush.keep_at, args=(act, seed)) for seed, act in enumerate(acts)
    ]

    for one in busy:
        one.start()
    for one in busy:
        one.join(SECONDS + 60)

    assert rush.failed == []
    assert "sweep_failed" not in caplog.messages
    assert not any(one.is_alive() for one in busy)
    for machine in rush.machines:
        machine.check()
        machine.teardown()
    assert min(rush.done[act] for act in ("decide", "rewind", "deadline", "sweep", "claim")) > 0
