"""A gate that was withdrawn under an open card is asked again at once, whatever else waits."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from approvals.core.gate import Decision, GateStatus
from approvals.errors import EvidenceChanged
from approvals.models import Gate
from approvals.selectors import frame_gates, gates_of_run
from felix_web.tenancy.principal import Principal
from sessions.core.states import RunStatus
from sessions.models import Event, Run
from tests import make, people
from tests.services.machine_driver import Script, drive, say, write

pytestmark = pytest.mark.django_db(transaction=True)
BOTH = [write("a", "1", "c1"), write("b", "2", "c2")]


@pytest.fixture
def row() -> Run:
    make.manifest()
    return make.run()


@pytest.fixture
def bob() -> Principal:
    return people.bob()


@pytest.fixture
def script() -> Script:
    return Script([BOTH, "Both."])


def waiting(row: Run) -> dict[str, Gate]:
    gates = Gate.objects.filter(run=row, status=GateStatus.WAITING)
    return {gate.call_id: gate for gate in gates}


def started(row: Run) -> list[str]:
    events = Event.objects.filter(run=row, kind="call_started").order_by("seq")
    return [event.call_id for event in events]


def refused(row: Run, bob: Principal, call_id: str = "c1") -> Callable[[], None]:
    """Bob approves a card whose file has just changed."""

    def approve() -> None:
        gate = waiting(row)[call_id]
        make.workspace_of(row).workspace.replace(gate.args["path"], b"somebody else was here")
        with pytest.raises(EvidenceChanged):
            say(bob, gate, Decision.APPROVE)

    return approve


def approve_all(row: Run, bob: Principal) -> None:
    for gate in waiting(row).values():
        say(bob, gate, Decision.APPROVE)


def test_a_changed_card_is_asked_again_while_another_one_waits(row, bob, script):
    drive(row, script)
    first = waiting(row)

    refused(row, bob)()
    row.refresh_from_db()
    woken = row.status
    parked = drive(row, script)

    assert (woken, parked.status) == (RunStatus.QUEUED, RunStatus.WAITING)
    again = waiting(row)
    assert (set(again), again["c2"].pk) == ({"c1", "c2"}, first["c2"].pk)
    assert again["c1"].pk != first["c1"].pk
    assert started(row) == []


def test_a_card_that_changes_just_before_parking_is_asked_again_before_it(row, bob, script):
    parked = drive(row, script, before={"park": refused(row, bob)})

    assert (parked.status, parked.fence) == (RunStatus.WAITING, 1)
    assert set(waiting(row)) == {"c1", "c2"}


def test_both_calls_run_once_each_after_one_was_asked_again(row, bob, script):
    drive(row, script)
    refused(row, bob, "c2")()
    drive(row, script)
    approve_all(row, bob)

    assert drive(row, script).status == RunStatus.DONE
    assert started(row) == ["c1", "c2"]


def test_a_withdrawn_gate_of_a_call_that_has_its_result_keeps_nobody_from_waiting(row, bob):
    script = Script([BOTH[:1], BOTH[1:], "Both."])
    drive(row, script)
    refused(row, bob)()
    gate = Gate.objects.get(run=row)
    # With arguments that its tool does not take the call fails instead of being asked about.
    Gate.objects.filter(pk=gate.pk).update(args={"path": 7})

    parked = drive(row, script)

    assert (parked.status, set(waiting(row))) == (RunStatus.WAITING, {"c2"})


def test_the_gate_asked_last_is_the_newest_whatever_the_clock_said(row, bob, script):
    drive(row, script)
    refused(row, bob)()
    drive(row, script)
    newest = waiting(row)["c1"]
    Gate.objects.filter(pk=newest.pk).update(created_at=newest.created_at - timedelta(hours=1))

    assert gates_of_run(run_id=row.pk)[-1].gate_id == newest.pk
    assert frame_gates(run_id=row.pk)[-1].pk == newest.pk
    approve_all(row, bob)
    assert drive(row, script).status == RunStatus.DONE
    assert started(row) == ["c1", "c2"]
