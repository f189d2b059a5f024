"""The machine of the log once more, with two connections: acts happen beside each other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from tests.services.machine import ACTS, CALLS, Calls, Machine, Team

SMALL = 12
EXAMPLES = {"postgresql": 200, "sqlite": SMALL}
Act = Callable[[], None]


def hurried() -> None:
    """This connection's commits do not wait for the disk; nothing here is about a power cut."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET synchronous_commit TO off")
        else:
            cursor.execute("PRAGMA synchronous = OFF")


def _let_go() -> None:
    connection.close()


class Pair:
    """Two threads, each with a connection of its own, that begin at the same moment."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(2, initializer=hurried)

    def both(self, one: Act, other: Act) -> None:
        together = threading.Barrier(2)

        def begin(act: Act) -> None:
            together.wait(10)
            act()

        for done in [self._pool.submit(begin, act) for act in (one, other)]:
            done.result(60)

    def close(self) -> None:
        self.both(_let_go, _let_go)
        self._pool.shutdown()


class RacingMachine(Machine):
    """As the machine it is made of; now and then two acts, of different workers, race."""

    pair: Pair

    @rule(
        acts=st.tuples(ACTS, ACTS),
        picks=st.tuples(st.integers(0, 11), st.integers(0, 11)),
        answer=CALLS,
        flag=st.booleans(),
    )
    def race(
        self, acts: tuple[str, str], picks: tuple[int, int], answer: Calls, flag: bool
    ) -> None:
        one = self.prepared(acts[0], picks[0], answer, flag=flag)
        if self._may_use_one_worker(acts):
            return self.do(one)
        other = self.prepared(acts[1], picks[1], answer, flag=not flag)
        self.pair.both(one, other)
        self.check()
        return None

    def _may_use_one_worker(self, acts: tuple[str, str]) -> bool:
        """A worker is one thread: it does not race with itself."""
        return sum(act in ("work", "step", "crash", "give_back", "claim") for act in acts) > 1


@pytest.fixture
def pair(transactional_db: None) -> Iterator[Pair]:
    made = Pair()
    hurried()
    yield made
    made.close()


@pytest.mark.slow
def test_whatever_happens_side_by_side_the_log_stays_sound(pair: Pair):
    RacingMachine.team, RacingMachine.pair = Team(), pair
    examples = settings(
        max_examples=EXAMPLES[connection.vendor],
        stateful_step_count=50,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # a race does not come a second time for the asking
        suppress_health_check=list(HealthCheck),
    )

    run_state_machine_as_test(RacingMachine, settings=examples)

    assert transaction.get_autocommit()
