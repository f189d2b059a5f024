"""A decision may land in every gap around parking; the run always wakes, and the call runs once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest

from agents.core.store import LeaseLost
from agents.services import driving
from agents.services.claiming import load_run
from agents.services.sweeping import claimable_runs, sweep
from approvals.core.gate import Decision, GateStatus
from approvals.deciding import Said, decide_gate
from approvals.models import Gate
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now
from sessions.core.states import RunStatus
from sessions.models import Event, Run
from tests import make, people
from tests.services.machine_driver import Script, call, drive, on_own_connection, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def row() -> Run:
    make.manifest()
    return make.run()


@pytest.fixture
def bob() -> Principal:
    return people.bob()


def gated() -> Script:
    return Script([[write("a.txt", "hello", "c1")], "It is written."])


def approver(row: Run, bob: Principal, word: Decision = Decision.APPROVE) -> Callable[[], None]:
    def decide() -> None:
        for gate in Gate.objects.filter(run=row, status=GateStatus.WAITING):
            decide_gate(principal=bob, gate_id=gate.pk, said=Said(word))

    return decide


def starts(row: Run) -> int:
    return Event.objects.filter(run=row, kind="call_started").count()


def test_a_decision_between_asking_and_parking_lets_the_driver_go_on(row: Run, bob: Principal):
    ended = drive(row, gated(), after={"ask": approver(row, bob)})

    assert (ended.status, starts(row)) == (RunStatus.DONE, 1)
    assert ended.fence == 1


def test_a_decision_just_before_parking_lets_the_driver_go_on(row: Run, bob: Principal):
    ended = drive(row, gated(), before={"park": approver(row, bob)})

    assert (ended.status, starts(row), ended.fence) == (RunStatus.DONE, 1, 1)


def test_a_decision_just_after_parking_queues_the_run(row: Run, bob: Principal):
    script = gated()

    parked = drive(row, script, after={"park": approver(row, bob)})

    assert parked.status == RunStatus.QUEUED
    assert drive(row, script).status == RunStatus.DONE
    assert starts(row) == 1


def test_a_denial_between_asking_and_parking_reaches_the_model(row: Run, bob: Principal):
    script = gated()

    ended = drive(row, script, after={"ask": approver(row, bob, Decision.DENY)})

    assert (ended.status, starts(row)) == (RunStatus.DONE, 0)
    assert script.results()[0].startswith("[error/denied] bob denied this call.")


def test_a_decision_on_one_of_two_gates_before_parking_still_parks(row: Run, bob: Principal):
    script = Script([[write("a", "1", "c1"), write("b", "2", "c2")], "Both."])

    def first() -> None:
        gate = Gate.objects.get(run=row, call_id="c1")
        decide_gate(principal=bob, gate_id=gate.pk, said=Said(Decision.APPROVE))

    parked = drive(row, script, after={"ask": first, "park": approver(row, bob)})

    assert parked.status == RunStatus.QUEUED
    assert drive(row, script).status == RunStatus.DONE
    assert starts(row) == 2


def test_a_deadline_that_passes_before_parking_denies_without_a_sweep(row: Run):
    script = gated()

    def pass_deadline() -> None:
        past = database_now() - timedelta(seconds=1)
        Gate.objects.filter(run=row).update(expires_at=past)

    ended = drive(row, script, before={"park": pass_deadline})

    assert (ended.status, starts(row)) == (RunStatus.DONE, 0)
    assert "denied by time" in script.results()[0]
    assert Gate.objects.get(run=row).status == GateStatus.EXPIRED


def test_a_decision_while_the_reading_calls_run_lets_the_driver_go_on(row: Run, bob: Principal):
    asks = [write("a.txt", "hello", "c1"), call("calculator", "c2", expression="1+1")]
    script = Script([asks, "Done."])

    ended = drive(row, script, before={"result": approver(row, bob)})

    assert (ended.status, ended.fence) == (RunStatus.DONE, 1)
    assert script.results()[1] == "2"


def test_a_stalled_loader_of_a_parked_run_settles_no_gate_that_would_wake_nobody(row: Run):
    stalled = make.claimed(row)
    Run.objects.filter(pk=row.pk).update(lease_until=database_now() - timedelta(seconds=1))
    assert drive(row, gated()).status == RunStatus.WAITING
    Gate.objects.filter(run=row).update(expires_at=database_now() - timedelta(seconds=1))

    with pytest.raises(LeaseLost):
        load_run(claimed=stalled, limits=make.LIMITS)

    sweep()
    assert [run_id for run_id, _ in claimable_runs()] == [row.pk]


def test_a_decision_that_meets_a_park_under_way_waits_for_it_and_then_wakes_the_run(
    row: Run, bob: Principal
):
    taken = make.claimed(row)
    args = {"path": "a.txt", "content": "hello"}
    make.answered(taken, "", [{"id": "c1", "name": "write_file", "args": args}])
    driving.ask(taken.claim, make._drafts(taken))
    deciding = threading.Thread(target=on_own_connection, args=(approver(row, bob),))

    with driving._held(taken.claim):
        deciding.start()
        deciding.join(0.3)
        assert deciding.is_alive()
        driving.park_run(run_id=row.pk, fence=taken.claim.fence, active_ms=0)
    deciding.join(10)

    row.refresh_from_db()
    assert row.status == RunStatus.QUEUED
