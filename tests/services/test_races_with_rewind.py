"""A rewind or an abort against what commits at the same moment: a send, a result, a decision."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from agents.services import driving
from agents.services.sending import Message, send
from agents.services.stopping import abort_run, rewind
from approvals.core.gate import Decision, GateStatus
from approvals.deciding import Said, decide_gate
from approvals.errors import GateWithdrawn
from felix_web.audit.models import AuditEvent
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import tenant_scope
from sessions.core.states import RunStatus
from sessions.models import Event, Run, Thread
from sessions.selectors import thread_for
from tests import make, people
from tests.services.machine_driver import on_own_connection
from tests.services.test_log_runs import end_of, under_way

pytestmark = pytest.mark.django_db(transaction=True)
Act = Callable[[], object]


@pytest.fixture
def alice() -> Principal:
    make.manifest()
    return people.alice()


def beside(act: Act) -> tuple[threading.Thread, list[BaseException]]:
    """Return a thread that does the act, and the list that what it raises is put into."""
    raised: list[BaseException] = []

    def do() -> None:
        try:
            on_own_connection(act)
        except Exception as error:
            raised.append(error)

    return threading.Thread(target=do), raised


def begun_within(other: threading.Thread, thread: Thread, then: Act) -> None:
    """The other began while this transaction held the thread, and was held up until it ended."""
    with tenant_scope(thread.tenant_id):
        Thread.objects.select_for_update().get(pk=thread.pk)
        other.start()
        other.join(0.3)
        assert other.is_alive()
        then()
    other.join(20)
    assert not other.is_alive()


@pytest.mark.parametrize(
    ("stop", "reason"), [("rewind", "superseded"), ("abort", "aborted")], ids=["rewind", "abort"]
)
def test_a_run_that_is_sent_while_a_stop_looks_is_stopped_too(
    alice: Principal, stop: str, reason: str
):
    make.finished(make.run(alice))
    thread = thread_for(tenant_id=alice.tenant_id, suffix="t1")
    acts: dict[str, Act] = {
        "rewind": lambda: rewind(principal=alice, thread=thread, after_seq=0),
        "abort": lambda: abort_run(principal=alice, thread=thread),
    }
    stopper, raised = beside(acts[stop])

    begun_within(
        stopper, thread, lambda: send(principal=alice, message=Message("writer", ("b",), "t1"))
    )

    newest = Run.objects.order_by("created_at").last()
    assert raised == []
    assert newest is not None
    assert (newest.status, newest.reason) == (RunStatus.STOPPED, reason)


def test_a_late_result_that_meets_the_send_that_closed_its_call_goes_to_the_audit(
    alice: Principal,
):
    row = make.run(alice)
    taken = under_way(row)
    abort_run(principal=alice, thread=row.thread)
    late, raised = beside(lambda: driving.result(taken.claim, [end_of()], ()))

    begun_within(
        late, row.thread, lambda: send(principal=alice, message=Message("writer", ("b",), "t1"))
    )

    assert raised == []
    assert Event.objects.filter(kind="tool_result").count() == 1
    assert AuditEvent.objects.filter(act="late_result").count() == 1


def test_a_decision_that_waits_for_a_rewind_finds_its_gate_withdrawn(alice: Principal):
    gate = make.gate(make.run(alice))
    bob = people.bob()
    said = Said(Decision.APPROVE)
    decider, raised = beside(lambda: decide_gate(principal=bob, gate_id=gate.pk, said=said))

    with tenant_scope(alice.tenant_id):
        rewind(principal=alice, thread=gate.thread, after_seq=0)
        decider.start()
        decider.join(0.3)
        assert decider.is_alive()
    decider.join(20)

    gate.refresh_from_db()
    assert [type(error) for error in raised] == [GateWithdrawn]
    assert gate.status == GateStatus.WITHDRAWN
    assert gate.decisions.count() == 0


def test_two_sends_at_once_start_one_run(alice: Principal):
    thread = make.finished(make.run(alice)).thread
    again, raised = beside(
        lambda: send(principal=alice, message=Message("writer", ("c",), thread.suffix))
    )

    begun_within(
        again, thread, lambda: send(principal=alice, message=Message("writer", ("b",), "t1"))
    )

    assert [getattr(error, "code", "") for error in raised] == ["run_in_progress"]
    assert Run.objects.filter(status=RunStatus.QUEUED).count() == 1
