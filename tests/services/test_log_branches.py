"""Events belong to a branch, and a run reads and writes its own; a rewind beats a running turn."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agents.core.store import LeaseLost
from agents.services import driving
from agents.services.claiming import load_run
from agents.services.sending import Message, send
from agents.services.stopping import rewind
from agents.services.sweeping import sweep
from approvals.core.gate import Decision, GateStatus
from approvals.deciding import Said, decide_gate
from approvals.models import Gate, Grant
from felix_web.tenancy.scoping import database_now
from sessions.core.events import Event
from sessions.core.states import RunStatus
from sessions.errors import UnknownEvent
from sessions.models import Branch, IdempotencyKey, Run, Thread
from sessions.selectors import branch_events, branch_of, thread_for
from tests import make, people
from tests.services.test_log_runs import end_of, under_way

pytestmark = pytest.mark.django_db


@pytest.fixture
def row() -> Run:
    make.manifest()
    return make.run(text="first")


def back_to(row: Run, after_seq: int) -> Thread:
    return rewind(principal=people.alice(), thread=row.thread, after_seq=after_seq)


def branch(row: Run, number: int) -> list[Event]:
    return branch_events(branch_of(thread_id=row.thread_id, number=number))


def kinds(events: list[Event]) -> list[str]:
    return [event.kind.value for event in events]


def texts(events: list[Event]) -> list[str]:
    return [event.payload["content"] for event in events if "content" in event.payload]


def test_events_belong_to_a_branch_and_a_run_reads_and_writes_its_own(row: Run):
    make.finished(row, "one")
    back_to(row, 1)
    second = make.finished(make.run(text="second"), "two")
    back_to(row, 1)
    third = make.run(text="third")
    taken = make.claimed(third)

    loaded = load_run(claimed=taken, limits=make.LIMITS)
    make.answered(taken, "three")

    assert texts(list(loaded.events)) == ["first", "third"]
    assert texts(branch(row, 0)) == ["first", "one"]
    assert texts(branch(second, 1)) == ["first", "second", "two"]
    assert texts(branch(third, 2)) == ["first", "third", "three"]


def test_a_rewind_stands_against_a_running_turn(row: Run):
    taken = make.claimed(row)
    thread = back_to(row, 0)
    leaf, epoch = thread.leaf_seq, thread.leaf_epoch

    with pytest.raises(LeaseLost):
        make.answered(taken, "too late")

    thread.refresh_from_db()
    row.refresh_from_db()
    assert (thread.leaf_seq, thread.leaf_epoch) == (leaf, epoch)
    assert (row.status, row.reason) == (RunStatus.STOPPED, "superseded")


def test_a_result_in_flight_stays_on_the_branch_that_was_left(row: Run):
    taken = under_way(row)
    thread = back_to(row, 1)

    driving.result(taken.claim, [end_of()], ())

    leaf = thread.leaf_seq
    thread.refresh_from_db()
    assert thread.leaf_seq == leaf
    assert kinds(branch(row, 0))[-1] == "tool_result"
    assert "tool_result" not in kinds(branch(row, 1))


def test_the_next_turn_goes_on_from_the_rewound_leaf(row: Run):
    make.finished(row, "one")
    back_to(row, -1)

    make.finished(make.run(text="afresh"), "two")

    assert texts(branch(row, 1)) == ["afresh", "two"]


def test_the_epoch_rises_by_a_rewind_and_never_by_an_append(row: Run):
    make.finished(row, "one")
    make.finished(make.run(text="more"), "two")
    thread = thread_for(tenant_id=row.tenant_id, suffix="t1")
    assert thread.leaf_epoch == 0

    assert back_to(row, 2).leaf_epoch == 1


@pytest.mark.parametrize("after_seq", [-5, -2, 99])
def test_a_rewind_to_an_event_that_is_not_there_is_refused_and_changes_nothing(
    row: Run, after_seq: int
):
    with pytest.raises(UnknownEvent):
        back_to(row, after_seq)

    row.refresh_from_db()
    assert row.status == RunStatus.QUEUED
    assert Branch.objects.filter(thread=row.thread).count() == 1


def test_a_rewind_to_an_event_of_another_branch_is_refused(row: Run):
    make.finished(row, "one")
    thread = back_to(row, 0)
    make.finished(make.run(text="other"), "two")

    with pytest.raises(UnknownEvent):
        back_to(row, 2)

    assert thread.active_branch == 1


def test_a_rewind_withdraws_the_gates_of_the_turn_it_leaves_behind(row: Run):
    gate = make.gate(row)

    back_to(row, -1)

    gate.refresh_from_db()
    assert (gate.status, gate.settled_because) == (
        GateStatus.WITHDRAWN,
        "left behind by a rewind",
    )


def test_a_branch_reads_as_few_ranges_however_often_it_was_rewound(row: Run):
    make.finished(row, "one")
    for _ in range(10):
        thread = back_to(row, 1)

    newest = branch_of(thread_id=row.thread_id, number=thread.active_branch)
    assert len(newest.ranges) == 2


# Hidden threads.


def hidden(key: str = "") -> Run:
    message = Message("writer", ("go",), key=key, fingerprint="f")
    return send(principal=people.alice(), message=message).run


def age(row: Run) -> None:
    long_ago = database_now() - timedelta(hours=2)
    Thread.objects.filter(pk=row.thread_id).update(updated_at=long_ago)


def is_there(row: Run) -> bool:
    return Thread.objects.filter(pk=row.thread_id).exists()


@pytest.fixture
def writer() -> None:
    make.manifest(rule=", one_shot: false")


def test_a_hidden_thread_is_gone_an_hour_after_its_runs_end(writer: None):
    row = make.finished(hidden())
    age(row)

    sweep()

    assert not is_there(row)


def test_a_hidden_thread_stays_while_its_run_waits(writer: None):
    row = hidden()
    make.gate(row)
    age(row)

    sweep()

    assert is_there(row)


def test_a_resent_message_does_not_run_twice_after_its_hidden_thread_was_due(writer: None):
    row = make.finished(hidden("k1"))
    age(row)

    sweep()

    assert hidden("k1").pk == row.pk


def test_a_hidden_thread_goes_with_its_key(writer: None):
    row = make.finished(hidden("k1"))
    age(row)
    IdempotencyKey.objects.update(expires_at=database_now() - timedelta(seconds=1))

    sweep()

    assert not is_there(row)


def granted() -> Run:
    row = hidden()
    gate = make.gate(row)
    decide_gate(principal=people.bob(), gate_id=gate.pk, said=Said(Decision.APPROVE))
    make.finished(row)
    age(row)
    return row


def test_a_hidden_thread_stays_while_a_grant_given_there_is_live(writer: None):
    row = granted()

    sweep()

    assert is_there(row)
    assert Grant.objects.count() == 1


def test_a_hidden_thread_goes_with_a_grant_that_ended(writer: None):
    row = granted()
    Grant.objects.update(expires_at=database_now() - timedelta(seconds=1))

    sweep()

    assert not is_there(row)
    assert not Gate.objects.exists()
