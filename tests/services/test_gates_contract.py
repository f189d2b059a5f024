"""An approval is a contract (L7): a change in anything it is bound to means, ask again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from approvals.core.gate import Decision, GateStatus
from approvals.errors import EvidenceChanged, StaleGate
from approvals.models import Gate
from felix_web.common.errors import NotFound
from sessions.core.states import RunStatus
from sessions.models import Event, Run
from tests import make, people
from tests.services.machine_driver import Script, drive, say, write

pytestmark = pytest.mark.django_db(transaction=True)
APPROVE = Decision.APPROVE
Change = Callable[[Run], None]


def in_gate(**columns: object) -> Change:
    """The gate's row says another thing than the call that would run."""

    def change(row: Run) -> None:
        Gate.objects.filter(run=row, call_id="c1").update(**columns)

    return change


def to_another_tenant(row: Run) -> None:
    Gate.objects.filter(run=row).update(tenant_id=people.tenant("evil").pk)


def to_another_run(row: Run) -> None:
    """The approval belongs to the same call of another run of the thread's owner."""
    other = make.run(thread="t2")
    Run.objects.filter(pk=other.pk).update(status=RunStatus.DONE)
    Gate.objects.filter(run=row).update(run=other)
    Run.objects.filter(pk=row.pk).update(status=RunStatus.QUEUED)


def on_disk(row: Run) -> None:
    make.workspace_of(row).workspace.replace("a.txt", b"somebody else was here")


BETWEEN: dict[str, Change] = {
    "tenant": to_another_tenant,
    "run": to_another_run,
    "call": in_gate(call_id="c9"),
    "tool": in_gate(tool="edit_file"),
    "arguments": in_gate(args_digest="0" * 64),
    "tool definition": in_gate(tool_digest="0" * 64),
    "manifest": in_gate(manifest="reader"),
    "manifest version": in_gate(manifest_version=7),
    "pre-image": on_disk,
    "principal": in_gate(principal="member:999"),
}
SEEN_BY_DECIDE: dict[str, Change] = {
    "arguments": in_gate(args={"path": "a.txt", "content": "other"}),
    "tool": in_gate(tool="calculator"),
    "tool definition": in_gate(tool_digest="0" * 64),
    "pre-image": on_disk,
}
SEEN_AT_THE_START: dict[str, Change] = {
    name: BETWEEN[name] for name in ("call", "manifest version", "principal")
}


def gated() -> Script:
    return Script([[write("a.txt", "hello", "c1")], "It is written."])


@pytest.fixture
def script() -> Script:
    return gated()


@pytest.fixture
def parked(script: Script) -> Run:
    make.manifest()
    people.bob()
    return drive(make.run(), script)


def waiting(row: Run) -> Gate:
    return Gate.objects.get(run=row, status=GateStatus.WAITING)


def ran(row: Run) -> int:
    return Event.objects.filter(run=row, kind="call_started").count()


def approve(row: Run) -> None:
    say(people.bob(), waiting(row), APPROVE)


def test_an_approved_call_runs_once_and_writes_what_was_shown(parked: Run, script: Script):
    approve(parked)

    ended = drive(parked, script)

    assert (ended.status, ran(parked)) == (RunStatus.DONE, 1)
    assert make.workspace_of(parked).workspace.read("a.txt", max_bytes=99) == b"hello"


@pytest.mark.parametrize("change", BETWEEN.values(), ids=BETWEEN)
def test_a_change_between_approval_and_execution_asks_again(
    parked: Run, script: Script, change: Change
):
    approve(parked)
    change(parked)

    again = drive(parked, script)

    assert (again.status, ran(parked)) == (RunStatus.WAITING, 0)
    approve(parked)
    assert drive(parked, script).status == RunStatus.DONE
    assert ran(parked) == 1


@pytest.mark.parametrize("change", SEEN_BY_DECIDE.values(), ids=SEEN_BY_DECIDE)
def test_a_change_under_the_open_card_refuses_the_approval_and_asks_again(
    parked: Run, script: Script, change: Change
):
    first = waiting(parked)
    change(parked)

    with pytest.raises(EvidenceChanged) as refused:
        say(people.bob(), first, APPROVE)

    assert refused.value.fields["gate"]["status"] == "withdrawn"
    assert drive(parked, script).status == RunStatus.WAITING
    assert waiting(parked).pk != first.pk
    assert ran(parked) == 0


@pytest.mark.parametrize("change", SEEN_AT_THE_START.values(), ids=SEEN_AT_THE_START)
def test_what_no_card_can_show_is_still_compared_before_the_call_runs(
    parked: Run, script: Script, change: Change
):
    change(parked)
    approve(parked)

    assert drive(parked, script).status == RunStatus.WAITING
    assert ran(parked) == 0


def test_a_gate_that_became_another_tenants_is_not_found(parked: Run):
    gate = waiting(parked)
    to_another_tenant(parked)

    with pytest.raises(NotFound):
        say(people.bob(), gate, APPROVE)


def test_a_card_that_shows_another_digest_decides_nothing(parked: Run):
    gate = waiting(parked)

    with pytest.raises(StaleGate):
        say(people.bob(), gate, APPROVE, digest="0" * 64, revision=gate.revision)

    assert waiting(parked).decisions.count() == 0


def test_a_card_of_an_older_revision_decides_nothing(parked: Run):
    gate = waiting(parked)

    with pytest.raises(StaleGate):
        say(people.bob(), gate, APPROVE, digest=gate.digest, revision=gate.revision + 1)


def test_a_published_version_neither_changes_nor_fails_a_parked_run(parked: Run, script: Script):
    make.manifest(ttl=77)
    approve(parked)

    ended = drive(parked, script)

    assert (ended.status, ended.manifest_version, ran(parked)) == (RunStatus.DONE, 1, 1)


def test_a_file_that_changes_after_the_last_look_stays_as_it_is(parked: Run, script: Script):
    approve(parked)

    ended = drive(parked, script, after={"start": lambda: on_disk(parked)})

    assert ended.status == RunStatus.DONE
    assert script.results()[0].startswith("[error/evidence_changed]")
    kept = make.workspace_of(parked).workspace.read("a.txt", max_bytes=99)
    assert kept == b"somebody else was here"
