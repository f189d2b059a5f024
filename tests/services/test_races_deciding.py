"""Two people press at the same moment: one word stands, and the other is told the truth."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from approvals.core.gate import Decision, GateStatus
from approvals.deciding import Said, decide_gate
from approvals.errors import AlreadyDecided
from approvals.models import Gate, Grant
from felix_web.audit.models import AuditEvent
from felix_web.tenancy.principal import Principal
from sessions.core.states import RunStatus
from sessions.models import Run
from tests import make, people
from tests.services.machine_driver import on_own_connection

pytestmark = pytest.mark.django_db(transaction=True)
APPROVE, DENY = Decision.APPROVE, Decision.DENY


def at_once(*acts: Callable[[], object]) -> list[BaseException | None]:
    """Return what each act raised, or None; they began together, on connections of their own."""
    together = threading.Barrier(len(acts))
    raised: list[BaseException | None] = [None] * len(acts)

    def do(place: int) -> None:
        together.wait(10)
        try:
            on_own_connection(acts[place])
        except Exception as error:
            raised[place] = error

    busy = [threading.Thread(target=do, args=(place,)) for place in range(len(acts))]
    for one in busy:
        one.start()
    for one in busy:
        one.join(30)
    return raised


def saying(who: Principal, gate: Gate, word: Decision) -> Callable[[], Gate]:
    return lambda: decide_gate(principal=who, gate_id=gate.pk, said=Said(word))


def parked(rule: str = "") -> Gate:
    make.manifest(rule=rule)
    return make.gate(make.run())


def settlings() -> int:
    return AuditEvent.objects.filter(act__in=["gate_answered", "gate_denied"]).count()


@pytest.mark.parametrize("attempt", range(5))
def test_of_two_different_decisions_at_once_exactly_one_stands(attempt: int):
    gate = parked()

    raised = at_once(saying(people.bob(), gate, APPROVE), saying(people.dora(), gate, DENY))

    assert sorted(type(error) for error in raised if error) == [AlreadyDecided]
    assert (gate.decisions.count(), settlings()) == (1, 1)
    gate.refresh_from_db()
    assert gate.status == (GateStatus.DENIED if raised[0] else GateStatus.ANSWERED)


def test_of_two_equal_decisions_at_once_both_are_content_and_one_is_recorded():
    gate = parked(", one_shot: false")

    raised = at_once(saying(people.bob(), gate, APPROVE), saying(people.dora(), gate, APPROVE))

    assert raised == [None, None]
    assert (gate.decisions.count(), settlings(), Grant.objects.count()) == (1, 1, 1)


def test_two_approvals_at_once_make_a_quorum_of_two_and_wake_the_run_once():
    gate = parked(", quorum: 2")

    raised = at_once(saying(people.bob(), gate, APPROVE), saying(people.dora(), gate, APPROVE))

    assert raised == [None, None]
    gate.refresh_from_db()
    assert (gate.status, gate.decisions.count(), settlings()) == (GateStatus.ANSWERED, 2, 1)
    assert Run.objects.get(pk=gate.run_id).status == RunStatus.QUEUED


def test_one_member_who_presses_twice_at_once_counts_once():
    gate = parked(", quorum: 2")
    bob = people.bob()

    raised = at_once(*[saying(bob, gate, APPROVE)] * 2)

    assert raised == [None, None]
    gate.refresh_from_db()
    assert (gate.status, gate.decisions.count()) == (GateStatus.WAITING, 1)
