"""Several gated calls of one message, edits, grants, and runs that nobody attends."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from agents.services.sweeping import sweep
from approvals.core.gate import Decision, GateStatus
from approvals.deciding import Said, decide_gate
from approvals.errors import InvalidEdit
from approvals.models import Gate
from felix_web.tenancy.scoping import database_now
from sessions.core.states import CallStatus, RunStatus
from sessions.models import Event, Run
from tests import make, people
from tests.services import machine_driver
from tests.services.machine_driver import Script, call, drive, write

pytestmark = pytest.mark.django_db(transaction=True)
APPROVE, DENY = Decision.APPROVE, Decision.DENY


def start(*answers: Any, rule: str = "", **facts: Any) -> tuple[Run, Script]:
    make.manifest(rule=rule)
    people.bob()
    script = Script(list(answers))
    return drive(make.run(**facts), script), script


def waiting(row: Run) -> list[str]:
    gates = Gate.objects.filter(run=row, status=GateStatus.WAITING).order_by("created_at")
    return list(gates.values_list("call_id", flat=True))


def say(row: Run, call_id: str, word: Decision = APPROVE, note: str = "", **more: Any) -> None:
    gate = Gate.objects.get(run=row, call_id=call_id, status=GateStatus.WAITING)
    machine_driver.say(people.bob(), gate, word, note=note, **more)


def events(row: Run, kind: str) -> Sequence[Event]:
    return list(Event.objects.filter(run=row, kind=kind).order_by("seq"))


def started(row: Run) -> list[str]:
    return [event.call_id for event in events(row, "call_started")]


def statuses(row: Run) -> dict[str, str]:
    return {event.call_id: event.payload["status"] for event in events(row, "tool_result")}


def file(row: Run, path: str) -> bytes | None:
    return make.workspace_of(row).workspace.read(path, max_bytes=1000)


# Parallel calls.

THREE = [write("a", "1", "c1"), write("b", "2", "c2"), write("c", "3", "c3")]


def test_three_calls_answered_in_another_order_run_in_the_models():
    row, script = start(THREE, "All.")

    for call_id in ("c3", "c1", "c2"):
        assert row.status == RunStatus.WAITING
        say(row, call_id)
        row.refresh_from_db()

    assert drive(row, script).status == RunStatus.DONE
    assert started(row) == ["c1", "c2", "c3"]


def test_all_gates_of_a_message_wait_together_and_reading_is_done_meanwhile():
    row, _ = start([THREE[0], call("calculator", "r", expression="6*7"), *THREE[1:]], "All.")

    assert waiting(row) == ["c1", "c2", "c3"]
    assert statuses(row) == {"r": "done"}


def test_a_decided_gate_does_not_come_back():
    row, script = start(THREE, "All.")
    say(row, "c1")

    Run.objects.filter(pk=row.pk).update(status=RunStatus.QUEUED)
    again = drive(row, script)

    assert again.status == RunStatus.WAITING
    assert waiting(row) == ["c2", "c3"]
    assert Gate.objects.filter(run=row).count() == 3


def test_approved_denied_and_expired_calls_each_get_their_own_result():
    row, script = start(THREE, "As you say.")
    say(row, "c1")
    say(row, "c2", DENY, 'not "now"\nlater')
    Gate.objects.filter(run=row, call_id="c3").update(
        expires_at=database_now() - timedelta(seconds=1)
    )
    sweep()

    assert drive(row, script).status == RunStatus.DONE
    assert statuses(row) == {"c1": "done", "c2": "denied", "c3": "denied"}
    assert script.results()[0].startswith("Created a")
    assert 'Note: not "now"\nlater' in script.results()[1]
    assert "denied by time" in script.results()[2]


def test_an_effect_waits_until_every_gate_of_its_message_is_settled():
    row, script = start(THREE, "All.")
    say(row, "c1")
    say(row, "c2")

    Run.objects.filter(pk=row.pk).update(status=RunStatus.QUEUED)
    drive(row, script)

    assert started(row) == []


def test_a_second_write_to_the_same_file_is_asked_about_once_the_first_is_there():
    row, script = start([write("a", "1", "c1"), write("a", "2", "c2")], "Twice.")
    assert waiting(row) == ["c1"]

    say(row, "c1")
    row = drive(row, script)

    assert (row.status, waiting(row), file(row, "a")) == (RunStatus.WAITING, ["c2"], b"1")
    say(row, "c2")
    assert drive(row, script).status == RunStatus.DONE
    assert file(row, "a") == b"2"


def test_repeated_call_ids_get_a_gate_each():
    row, script = start([write("a", "1", "same"), write("b", "2", "same")], "Both.")
    first, second = waiting(row)

    assert first == "same" != second
    say(row, first)
    say(row, second, DENY)
    drive(row, script)
    assert statuses(row) == {"same": "done", second: "denied"}


def test_a_call_id_of_an_earlier_message_is_minted_anew():
    row, script = start([write("a", "1", "same")], [write("b", "2", "same")], "Both.")
    say(row, "same")

    row = drive(row, script)

    assert waiting(row) != ["same"]
    assert len(waiting(row)) == 1


def test_a_call_killed_after_its_start_is_interrupted_and_its_approval_stays_spent():
    row, script = start([write("a", "1", "c1")], "Unknown.")
    say(row, "c1")

    def die() -> None:
        raise ConnectionError("the worker is gone")

    with pytest.raises(ConnectionError):
        drive(row, script, after={"start": die})
    Run.objects.filter(pk=row.pk).update(lease_until=database_now() - timedelta(seconds=1))

    assert drive(row, script).status == RunStatus.DONE
    assert (started(row), statuses(row)) == (["c1"], {"c1": CallStatus.INTERRUPTED})
    assert file(row, "a") is None


# Edited arguments.


def test_edited_arguments_run_and_the_log_says_so():
    row, script = start([write("a", "bad", "c1")], "Better.")
    say(row, "c1", edited_args={"path": "a", "content": "good"})

    drive(row, script)

    assert file(row, "a") == b"good"
    [begun] = events(row, "call_started")
    assert begun.payload["edited_args"] == {"path": "a", "content": "good"}


def test_an_edit_that_does_not_fit_the_tool_is_refused_and_the_gate_waits_on():
    row, _ = start([write("a", "bad", "c1")])

    with pytest.raises(InvalidEdit):
        say(row, "c1", edited_args={"path": "../etc/passwd", "content": "x"})

    assert waiting(row) == ["c1"]


def test_an_edited_call_that_is_asked_about_again_keeps_the_edit():
    row, script = start([write("a", "bad", "c1")], "Better.")
    say(row, "c1", edited_args={"path": "a", "content": "good"})
    make.workspace_of(row).workspace.replace("a", b"changed meanwhile")

    row = drive(row, script)
    say(row, "c1")
    drive(row, script)

    assert file(row, "a") == b"good"
    assert Gate.objects.filter(run=row).count() == 2


def test_one_of_a_quorum_cannot_edit_what_the_others_approved():
    row, _ = start([write("a", "bad", "c1")], rule=", quorum: 2")
    gate = Gate.objects.get(run=row)
    decide_gate(principal=people.dora(), gate_id=gate.pk, said=Said(APPROVE))

    with pytest.raises(InvalidEdit):
        say(row, "c1", edited_args={"path": "a", "content": "good"})

    assert waiting(row) == ["c1"]


# Nobody there.


def test_a_gated_call_of_a_run_that_nobody_attends_is_denied_at_once():
    row, script = start([write("a", "1", "c1")], "Well.", is_attended=False)

    assert row.status == RunStatus.DONE
    assert "nobody attends" in script.results()[0]
    assert not Gate.objects.exists()


def test_a_rule_may_let_it_wait():
    row, _ = start([write("a", "1", "c1")], rule=", allow_unattended: true", is_attended=False)

    assert row.status == RunStatus.WAITING
