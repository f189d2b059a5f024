"""Claims, fences, late results, poisoned runs, lost rings: a run's life when workers fail it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from agents.core.loop import Finish
from agents.core.store import CallClosed, GateSpent, LeaseLost, Start
from agents.services import driving
from agents.services.claiming import Claimed, take_run
from agents.services.stopping import abort_run, rewind
from agents.services.sweeping import claimable_runs, sweep
from approvals.core.gate import Decision, GateStatus
from approvals.deciding import Said, decide_gate
from approvals.models import Gate
from felix_web.audit.models import AuditEvent
from felix_web.common.doorbell import SilentDoorbell, install_doorbell
from felix_web.tenancy.models import Membership
from felix_web.tenancy.scoping import database_now
from sessions.core.events import EventKind, NewEvent
from sessions.core.states import CallStatus, RunStatus, StopReason
from sessions.models import Event, Run, Thread
from sessions.selectors import branch_events, branch_of
from sessions.services.runs import MAX_FRUITLESS_CLAIMS, free_lease
from tests import make, people

pytestmark = pytest.mark.django_db
CALL = {"id": "c1", "name": "write_file", "args": {"path": "a", "content": "x"}}
END = Finish(RunStatus.DONE, StopReason.END_TURN)


@pytest.fixture
def row() -> Run:
    make.manifest()
    return make.run()


def lapse(row: Run) -> None:
    past = database_now() - timedelta(seconds=1)
    Run.objects.filter(pk=row.pk).update(lease_until=past)


def begin(taken: Claimed, call_id: str = "c1") -> None:
    started = NewEvent(EventKind.CALL_STARTED, {"tool": "write_file"}, call_id=call_id)
    driving.start(taken.claim, Start(started))


def under_way(row: Run) -> Claimed:
    """A worker holds the run, and its one call has been started."""
    taken = make.claimed(row)
    make.answered(taken, "", [CALL])
    begin(taken)
    return taken


def end_of(call_id: str = "c1") -> CallClosed:
    return CallClosed(call_id, "write_file", CallStatus.DONE, "written", started_ms=1)


def results(row: Run) -> list[tuple[str, str]]:
    found = Event.objects.filter(thread_id=row.thread_id, kind="tool_result").order_by("seq")
    return [(event.call_id, event.payload["status"]) for event in found]


def told(act: str) -> int:
    return AuditEvent.objects.filter(act=act).count()


def everything(row: Run) -> list[object]:
    """All that a driver could have changed of a run."""
    run = Run.objects.filter(pk=row.pk).values().get()
    thread = Thread.objects.filter(pk=row.thread_id).values().get()
    gates = list(Gate.objects.filter(run=row).order_by("pk").values())
    return [run, thread, gates, Event.objects.filter(thread_id=row.thread_id).count()]


# Fence.


def test_a_claim_takes_over_a_lapsed_lease_under_a_higher_fence(row: Run):
    first = make.claimed(row)
    assert take_run(run_id=row.pk, owner="other", lease_seconds=60) is None

    lapse(row)
    second = take_run(run_id=row.pk, owner="other", lease_seconds=60)

    assert second is not None
    assert second.claim.fence == first.claim.fence + 1


def test_a_stale_driver_writes_nothing_by_any_of_its_transactions(row: Run):
    stale = under_way(row)
    lapse(row)
    make.claimed(row)
    before = everything(row)

    for write in (
        lambda: make.answered(stale, "late"),
        lambda: driving.ask(stale.claim, []),
        lambda: driving.park(stale.claim, active_ms=1),
        lambda: begin(stale),
        lambda: driving.result(stale.claim, [end_of()], ()),
        lambda: driving.finish(stale.claim, END, final_text="late", active_ms=1),
    ):
        with pytest.raises(LeaseLost):
            write()

    assert everything(row) == before


def test_what_a_stale_driver_brings_goes_to_the_audit_as_evidence(row: Run):
    stale = under_way(row)
    lapse(row)
    make.claimed(row)

    with pytest.raises(LeaseLost):
        driving.result(stale.claim, [end_of()], ())

    assert (told("late_result"), results(row)) == (1, [])


def test_an_approval_is_good_for_one_start(row: Run):
    gate = make.gate(row)
    decide_gate(principal=people.bob(), gate_id=gate.pk, said=Said(Decision.APPROVE))
    taken = make.claimed(row)
    started = NewEvent(EventKind.CALL_STARTED, {"tool": "write_file"}, call_id="call_1")
    driving.start(taken.claim, Start(started, gate_id=gate.pk))

    with pytest.raises(GateSpent):
        driving.start(taken.claim, Start(started, gate_id=gate.pk))

    assert Event.objects.filter(run=row, kind="call_started").count() == 1


# A stop while a call runs.


def test_the_result_of_a_call_that_was_going_when_the_run_was_stopped_is_taken(row: Run):
    taken = under_way(row)
    abort_run(principal=people.alice(), thread=row.thread)
    assert results(row) == []

    driving.result(taken.claim, [end_of()], ())

    assert results(row) == [("c1", "done")]


def test_no_other_transaction_is_taken_of_a_stopped_run(row: Run):
    taken = under_way(row)
    abort_run(principal=people.alice(), thread=row.thread)

    with pytest.raises(LeaseLost):
        make.answered(taken, "late")
    with pytest.raises(LeaseLost):
        driving.finish(taken.claim, END, final_text="", active_ms=0)


def test_a_result_that_comes_after_its_call_was_closed_goes_to_the_audit_alone(row: Run):
    taken = under_way(row)
    abort_run(principal=people.alice(), thread=row.thread)
    make.run(text="go on")

    assert driving.result(taken.claim, [end_of()], ()) == []

    assert results(row) == [("c1", "interrupted")]
    assert told("late_result") == 1


def test_a_call_never_started_is_cancelled_by_the_stop(row: Run):
    taken = make.claimed(row)
    make.answered(taken, "", [CALL])

    abort_run(principal=people.alice(), thread=row.thread)

    assert results(row) == [("c1", "cancelled")]


def test_a_stop_closes_a_started_call_whose_driver_is_gone(row: Run):
    under_way(row)
    lapse(row)

    abort_run(principal=people.alice(), thread=row.thread)

    assert results(row) == [("c1", "interrupted")]


def test_a_call_of_the_same_id_on_another_branch_does_not_count_as_started(row: Run):
    under_way(row)
    rewind(principal=people.alice(), thread=row.thread, after_seq=-1)
    other = make.run(text="again")
    make.answered(make.claimed(other), "", [CALL])

    abort_run(principal=people.alice(), thread=row.thread)

    assert results(row) == [("c1", "cancelled")]


# Runs that cannot go on.


def test_a_run_that_no_worker_gets_a_step_further_dies(row: Run):
    for _ in range(MAX_FRUITLESS_CLAIMS):
        assert take_run(run_id=row.pk, owner="w", lease_seconds=60) is not None
        lapse(row)

    assert take_run(run_id=row.pk, owner="w", lease_seconds=60) is None

    row.refresh_from_db()
    assert (row.status, row.reason) == (RunStatus.FAILED, "dead")


def test_a_step_in_between_gives_a_run_all_its_claims_again(row: Run):
    for _ in range(MAX_FRUITLESS_CLAIMS - 1):
        make.claimed(row)
        lapse(row)

    make.answered(make.claimed(row), "a step", [CALL])

    row.refresh_from_db()
    assert row.fruitless_claims == 0


def test_a_dead_run_leaves_a_log_that_says_so_and_no_open_call(row: Run):
    under_way(row)
    Run.objects.filter(pk=row.pk).update(fruitless_claims=MAX_FRUITLESS_CLAIMS)
    lapse(row)

    take_run(run_id=row.pk, owner="w", lease_seconds=60)

    assert results(row) == [("c1", "interrupted")]
    last = Event.objects.filter(thread_id=row.thread_id).order_by("seq").last()
    assert last is not None
    assert (last.kind, last.payload["reason"]) == ("run_finished", "dead")


def test_the_thread_of_a_dead_run_takes_the_next_message(row: Run):
    Run.objects.filter(pk=row.pk).update(fruitless_claims=MAX_FRUITLESS_CLAIMS)
    take_run(run_id=row.pk, owner="w", lease_seconds=60)

    assert make.run(text="again").status == RunStatus.QUEUED


def test_a_run_whose_starter_was_removed_is_stopped_and_its_gates_withdrawn(row: Run):
    gate = make.gate(row)
    Membership.objects.filter(pk=row.member_id).update(removed_at=database_now())
    Run.objects.filter(pk=row.pk).update(status=RunStatus.QUEUED)

    assert take_run(run_id=row.pk, owner="w", lease_seconds=60) is None

    row.refresh_from_db()
    gate.refresh_from_db()
    assert (row.status, row.reason) == (RunStatus.STOPPED, "authority_gone")
    assert (gate.status, gate.settled_because) == (GateStatus.WITHDRAWN, "authority_gone")
    assert results(row) == [("call_1", "cancelled")]


def test_a_run_past_its_end_expires_and_leaves_nothing_open(row: Run):
    gate = make.gate(row)
    Run.objects.filter(pk=row.pk).update(expires_at=database_now() - timedelta(seconds=1))

    sweep()

    row.refresh_from_db()
    gate.refresh_from_db()
    assert (row.status, gate.status) == (RunStatus.EXPIRED, GateStatus.WITHDRAWN)
    assert results(row) == [("call_1", "cancelled")]


# Lost rings.


class CountingBell(SilentDoorbell):
    def __init__(self) -> None:
        self.rung: list[str] = []

    def run_ready(self, run_id: str) -> None:
        self.rung.append(run_id)


@pytest.fixture
def bell() -> Iterator[CountingBell]:
    made = CountingBell()
    install_doorbell(made)
    yield made
    install_doorbell(SilentDoorbell())


def test_a_lost_ring_costs_latency_only_since_the_sweep_rings_again(row: Run, bell: CountingBell):
    sweep()

    assert bell.rung == [row.pk]


def test_a_run_whose_lease_lapsed_can_be_claimed_and_one_that_is_driven_cannot(row: Run):
    make.claimed(row)
    assert claimable_runs() == []

    lapse(row)

    assert [run_id for run_id, _ in claimable_runs()] == [row.pk]


def test_a_run_that_waits_is_claimed_by_nobody(row: Run):
    make.gate(row)

    assert claimable_runs() == []
    assert take_run(run_id=row.pk, owner="w", lease_seconds=60) is None


def test_the_sweep_ends_a_gate_whose_time_is_over_and_wakes_the_run(row: Run, bell: CountingBell):
    make.gate(row)
    Gate.objects.filter(run=row).update(expires_at=database_now() - timedelta(seconds=1))

    sweep()

    assert Gate.objects.get(run=row).status == GateStatus.EXPIRED
    assert row.pk in bell.rung


def test_the_log_of_a_stopped_run_names_the_same_reason_as_its_row(row: Run):
    rewind(principal=people.alice(), thread=row.thread, after_seq=-1)

    row.refresh_from_db()
    events = branch_events(branch_of(thread_id=row.thread_id, number=0))
    assert events[-1].payload["stop_reason"] == row.stop_reason == StopReason.SUPERSEDED


def is_certain(row: Run) -> bool:
    row.refresh_from_db()
    return row.is_usage_certain


def test_a_run_that_ends_after_a_lost_request_says_that_its_usage_is_not_certain(row):
    taken = make.claimed(row)
    make.answered(taken, "half")
    failed = Finish(RunStatus.FAILED, StopReason.ERROR, "provider_error", "No answer.")

    driving.finish(taken.claim, failed, final_text="", active_ms=0, is_usage_lost=True)

    assert not is_certain(row)
    assert row.input_tokens == row.context_tokens == 11


def test_a_run_taken_over_from_a_dead_driver_is_of_uncertain_usage(row):
    make.claimed(row)
    lapse(row)

    make.claimed(row)

    assert not is_certain(row)


def test_a_run_taken_again_after_it_was_parked_keeps_its_certainty(row):
    gate = make.gate(row)
    decide_gate(principal=people.bob(), gate_id=gate.pk, said=Said(Decision.APPROVE))

    make.claimed(row)

    assert is_certain(row)


def test_an_abort_while_the_model_is_asked_makes_the_usage_uncertain(row):
    make.claimed(row)

    abort_run(principal=people.alice(), thread=row.thread)

    assert not is_certain(row)


def test_an_abort_during_a_call_or_before_any_work_leaves_it_certain(row):
    abort_run(principal=people.alice(), thread=row.thread)
    second = make.run()
    under_way(second)

    abort_run(principal=people.alice(), thread=second.thread)

    assert is_certain(row)
    assert is_certain(second)


def test_a_driver_that_lets_go_in_the_midst_of_a_request_leaves_the_usage_uncertain(row):
    taken = make.claimed(row)

    free_lease(run_id=row.pk, fence=taken.claim.fence, is_usage_lost=True)

    assert not is_certain(row)
