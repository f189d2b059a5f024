"""A standing permission covers the identical call on the same state, leaves a trace, and can be
taken back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from approvals.core.gate import Decision, GateStatus
from approvals.grants import grants_page, revoke_grant
from approvals.models import Gate, Grant
from felix_web.audit.models import AuditEvent
from felix_web.common.errors import NotFound
from felix_web.tenancy.principal import MissingScope
from felix_web.tenancy.scoping import database_now
from sessions.core.states import RunStatus
from sessions.models import Event, Run, Thread
from tests import make, people
from tests.services import machine_driver
from tests.services.machine_driver import Hook, Script, drive, write

pytestmark = pytest.mark.django_db(transaction=True)
STANDING = ", one_shot: false"
SHARED = STANDING + "}\n  workspace: {scope: tenant"


def started(row: Run) -> list[str]:
    events = Event.objects.filter(run=row, kind="call_started").order_by("seq")
    return [event.call_id for event in events]


def start(*answers: Any, rule: str = STANDING) -> tuple[Run, Script]:
    make.manifest(rule=rule)
    people.bob()
    script = Script(list(answers))
    return drive(make.run(), script), script


def approve(row: Run, **more: Any) -> None:
    gate = Gate.objects.get(run=row, status=GateStatus.WAITING)
    machine_driver.say(people.bob(), gate, Decision.APPROVE, **more)


def asked(row: Run) -> list[str]:
    waiting = Gate.objects.filter(run=row, status=GateStatus.WAITING).order_by("ordinal")
    return list(waiting.values_list("call_id", flat=True))


def holds(row: Run, text: bytes = b"1") -> None:
    """The file is already what the calls of these tests would make it."""
    make.workspace_of(row).workspace.replace("a", text)


def granted(*answers: Any, rule: str = STANDING) -> tuple[Run, Script]:
    """A run whose first write, which changes nothing, was approved under a standing rule."""
    make.manifest(rule=rule)
    people.bob()
    row, script = make.run(), Script(list(answers))
    holds(row)
    drive(row, script)
    approve(row)
    return row, script


def twice() -> list[Any]:
    return [[write("a", "1", "c1")], [write("a", "1", "c2")], "Twice."]


def elsewhere(row: Run, thread: str = "t2", **more: Any) -> Run:
    """Another run that makes the same call."""
    other = make.run(thread=thread, **more)
    holds(other)
    return drive(other, Script([[write("a", "1", "c1")], "Once."]))


def test_an_approval_under_a_standing_rule_covers_the_identical_call():
    row, script = granted(*twice())

    assert drive(row, script).status == RunStatus.DONE
    assert started(row) == ["c1", "c2"]
    assert Gate.objects.filter(run=row).count() == 1


def test_the_log_says_what_allowed_each_call():
    row, script = granted(*twice())
    gate, grant = Gate.objects.get(), Grant.objects.get()

    drive(row, script)

    first, second = Event.objects.filter(run=row, kind="call_started").order_by("seq")
    assert (first.payload["gate_id"], "grant_id" in first.payload) == (gate.pk, False)
    assert (second.payload["grant_id"], "gate_id" in second.payload) == (grant.pk, False)
    result = Event.objects.get(run=row, kind="tool_result", call_id="c2")
    assert result.payload["grant"] == {
        "grant_id": grant.pk,
        "gate_id": gate.pk,
        "granted_by": "bob",
    }


def test_a_grant_covers_no_other_state_of_the_file():
    row, script = start([write("a", "1", "c1")], [write("a", "1", "c2")])
    approve(row)

    assert drive(row, script).status == RunStatus.WAITING
    assert asked(row) == ["c2"]


def test_a_file_that_changes_after_the_last_look_stays_as_it_is_under_a_grant():
    row, script = granted(*twice())
    after: dict[str, Hook] = {"park": lambda: None}

    def change_at_the_next_start() -> None:
        after["start"] = lambda: holds(row, b"somebody else's")

    drive(row, script, before={"answer": change_at_the_next_start}, after=after)

    assert script.results()[1].startswith("[error/evidence_changed]")


def test_a_grant_covers_no_other_arguments():
    row, script = granted([write("a", "1", "c1")], [write("a", "2", "c2")])

    assert drive(row, script).status == RunStatus.WAITING
    assert asked(row) == ["c2"]


def test_a_grant_ends_with_its_time():
    row, script = granted(*twice())
    Grant.objects.update(expires_at=database_now() - timedelta(seconds=1))

    assert drive(row, script).status == RunStatus.WAITING


def test_a_revoked_grant_covers_nothing():
    row, script = granted(*twice())
    revoke()

    assert drive(row, script).status == RunStatus.WAITING
    assert asked(row) == ["c2"]


def test_a_grant_revoked_between_look_and_start_is_not_used_and_the_call_is_asked_about():
    row, script = granted(*twice())

    row = drive(row, script, before={"answer": revoke})

    assert row.status == RunStatus.WAITING
    assert (started(row), asked(row)) == (["c1"], ["c2"])


def revoke() -> None:
    revoke_grant(principal=people.bob(), grant_id=Grant.objects.get().pk)


def test_a_rule_of_one_execution_mints_no_grant():
    row, script = granted(*twice(), rule="")

    assert drive(row, script).status == RunStatus.WAITING
    assert not Grant.objects.exists()


def test_a_grant_holds_on_its_own_thread_alone():
    row, script = granted([write("a", "1", "c1")], "Once.")
    drive(row, script)

    assert elsewhere(row).status == RunStatus.WAITING


def test_a_grant_holds_on_every_thread_that_works_on_the_same_files():
    row, script = granted([write("a", "1", "c1")], "Once.", rule=SHARED)
    drive(row, script)

    assert elsewhere(row).status == RunStatus.DONE


def test_a_bound_grant_is_nobody_elses():
    bound = STANDING + ", bind_principal: true"
    row, script = granted([write("a", "1", "c1")], "Once.", rule=bound)
    drive(row, script)

    assert elsewhere(row, "t1", principal=people.dora()).status == RunStatus.WAITING


def test_the_grant_of_an_edited_call_is_for_what_was_approved():
    row, script = start([write("a", "bad", "c1")], [write("a", "bad", "c2")])
    approve(row, edited_args={"path": "a", "content": "1"})

    assert drive(row, script).status == RunStatus.WAITING
    assert Grant.objects.get().args_digest == Gate.objects.get(call_id="c1").args_digest


def test_minting_and_revoking_are_in_the_audit_once_each():
    granted([write("a", "1", "c1")])

    revoke()
    revoke()

    acts = AuditEvent.objects.filter(subject=Grant.objects.get().pk).order_by("pk")
    assert list(acts.values_list("act", "actor")) == [
        ("grant_minted", "bob"),
        ("grant_revoked", "bob"),
    ]


def test_a_revocation_keeps_its_first_moment():
    granted([write("a", "1", "c1")])
    revoke()
    first = Grant.objects.get().revoked_at

    revoke()

    assert Grant.objects.get().revoked_at == first


def test_a_viewer_cannot_revoke():
    granted([write("a", "1", "c1")])

    with pytest.raises(MissingScope):
        revoke_grant(principal=people.carol(), grant_id=Grant.objects.get().pk)

    assert Grant.objects.get().revoked_at is None


def test_a_stranger_finds_no_grant():
    granted([write("a", "1", "c1")])

    with pytest.raises(NotFound):
        revoke_grant(principal=people.mallory(), grant_id=Grant.objects.get().pk)

    assert grants_page(tenant_id=people.mallory().tenant_id) == []
    assert Grant.objects.get().revoked_at is None


def test_a_thread_with_a_grant_can_be_deleted():
    row, _ = granted([write("a", "1", "c1")])

    Grant.objects.filter(thread=row.thread).delete()
    Thread.objects.filter(pk=row.thread_id).delete()

    assert not Gate.objects.exists()
