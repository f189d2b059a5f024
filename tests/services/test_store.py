"""The bridge to the database: no true result is thrown away, and a reader waits for no writer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, connection

from agents.core.store import LeaseLost, Start
from agents.engine import Engine
from agents.services import driving
from agents.services.stopping import abort_run
from agents.services.sweeping import Claimable, claimable_runs, sweep
from agents.store import Bridge, ClaimedStore, StoreUnavailable
from felix_web.audit.models import AuditEvent
from felix_web.tenancy.auth import memberships_of, principal_of_key
from felix_web.tenancy.scoping import tenant_scope
from sessions.core.events import EventKind, NewEvent
from sessions.models import Event, Run
from sessions.services.runs import free_lease
from tests import make, people
from tests.services.machine_driver import let_go, on_each_thread, on_own_connection
from tests.services.test_log_runs import end_of, results, under_way

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def row() -> Run:
    make.manifest()
    return make.run()


# Results.


class Refusing:
    """A database that refuses the next statements."""

    def __init__(self, error: type[Exception], times: int) -> None:
        self.error, self.left = error, times
        self.has_refused = threading.Event()

    def __call__(self, execute: Callable[..., Any], *statement: Any) -> Any:
        if self.left:
            self.left -= 1
            self.has_refused.set()
            raise self.error("no")
        return execute(*statement)

    def watch(self) -> None:
        connection.execute_wrappers.append(self)

    def unwatch(self) -> None:
        connection.execute_wrappers.remove(self)
        connection.close()


@contextmanager
def store_on(taken: Any, refusing: Refusing) -> Iterator[ClaimedStore]:
    bridge = Bridge(1)
    on_each_thread(bridge._pool, 1, refusing.watch)
    try:
        yield ClaimedStore(bridge=bridge, claimed=taken, limits=make.LIMITS)
    finally:
        on_each_thread(bridge._pool, 1, refusing.unwatch)
        bridge.close()


def test_a_result_is_brought_again_until_the_database_takes_it(row: Run):
    taken = under_way(row)

    with store_on(taken, Refusing(OperationalError, 2)) as store:
        asyncio.run(store.result([end_of()]))

    assert results(row) == [("c1", "done")]


def test_a_result_that_the_database_will_never_take_is_not_brought_for_ever(row: Run):
    taken = under_way(row)

    with store_on(taken, Refusing(IntegrityError, 1)) as store, pytest.raises(StoreUnavailable):
        asyncio.run(store.result([end_of()]))


def test_a_result_is_not_brought_to_a_run_that_is_anothers_by_then(row: Run):
    taken = under_way(row)
    with tenant_scope(row.tenant_id):
        free_lease(run_id=row.pk, fence=taken.claim.fence)
    make.claimed(row)

    with store_on(taken, Refusing(OperationalError, 1)) as store, pytest.raises(LeaseLost):
        asyncio.run(store.result([end_of()]))

    assert results(row) == []
    assert AuditEvent.objects.filter(act="late_result").count() == 1


def test_a_driver_that_is_stopped_while_it_brings_a_result_leaves_it_behind(row: Run):
    taken = under_way(row)
    refusing = Refusing(OperationalError, 1000)

    async def bring(store: ClaimedStore) -> None:
        bringing = asyncio.ensure_future(store.result([end_of()]))
        await asyncio.to_thread(refusing.has_refused.wait, 10)
        await asyncio.to_thread(
            on_own_connection, lambda: abort_run(principal=people.alice(), thread=row.thread)
        )
        refusing.left = 0
        bringing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await bringing

    with store_on(taken, refusing) as store:
        asyncio.run(bring(store))

    assert results(row) == [("c1", "done")]
    assert not AuditEvent.objects.filter(act="late_result").exists()


def test_a_result_whose_commit_nobody_heard_of_is_taken_once(row: Run):
    taken = under_way(row)
    riding = NewEvent(EventKind.CALL_STARTED, {"tool": "read_file"}, call_id="c2")
    first = driving.result(taken.claim, [end_of()], [Start(riding)])

    again = driving.result(taken.claim, [end_of()], [Start(riding)], is_repeated=True)

    assert again == first
    assert results(row) == [("c1", "done")]
    assert Event.objects.filter(call_id="c2").count() == 1


# Readers beside a writer.


@contextmanager
def a_writer_in_a_transaction(tenant_id: int) -> Iterator[None]:
    is_writing, may_end = threading.Event(), threading.Event()

    def write() -> None:
        with tenant_scope(tenant_id):
            Run.objects.update(reason="")
            is_writing.set()
            may_end.wait(30)

    writer = threading.Thread(target=lambda: on_own_connection(write))
    writer.start()
    assert is_writing.wait(10)
    try:
        yield
    finally:
        may_end.set()
        writer.join(30)


def test_credentials_are_looked_up_while_somebody_writes(row: Run):
    secret = people.key_of("alice")
    alice = people.member("alice")

    with a_writer_in_a_transaction(row.tenant_id):
        assert done_meanwhile(lambda: principal_of_key(secret)).member_id == alice.pk
        assert done_meanwhile(lambda: memberships_of(alice.user)) == [alice]


def test_what_can_be_claimed_is_looked_for_while_somebody_writes(row: Run):
    with a_writer_in_a_transaction(row.tenant_id):
        assert done_meanwhile(claimable_runs) == [Claimable(row.pk, 0)]


def test_a_sweep_with_nothing_to_do_waits_for_no_writer(row: Run):
    make.gate(row)

    with a_writer_in_a_transaction(row.tenant_id):
        done_meanwhile(sweep)


def done_meanwhile(work: Callable[[], Any]) -> Any:
    """Return what the work returns; it must not wait for the writer."""
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(on_own_connection(work)))
    thread.start()
    thread.join(4)
    assert answers, "it waited for the writer"
    return answers[0]


# One driver per run and process.


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine(publish=lambda *_: None)
    made.start()
    yield made
    pool = made._bench.bridge._pool
    on_each_thread(pool, pool._max_workers, let_go)
    made.close()
    made._loop.close()


def test_a_second_ring_ends_at_once_while_the_first_still_claims_the_run(row: Run, engine: Engine):
    may_claim = threading.Event()
    pool = engine._bench.bridge._pool
    held = [pool.submit(may_claim.wait, 30) for _ in range(pool._max_workers)]
    first = engine.submit(row.pk)

    engine.submit(row.pk).result(5)

    assert not first.done()
    may_claim.set()
    first.result(30)
    assert all(one.result(5) for one in held)
    assert (Run.objects.get(pk=row.pk).fence, engine._driven) == (1, {})
