"""People who leave and keys that are revoked, by the command line too."""

from __future__ import annotations

import pytest

from approvals.core.gate import GateStatus
from felix_web.audit.models import AuditEvent
from felix_web.cli.main import OK, USAGE, main
from felix_web.common.errors import Unauthenticated
from felix_web.tenancy.models import Membership
from felix_web.tenancy.services import create_member
from sessions.core.states import RunStatus
from sessions.models import Run
from tests import make, people

pytestmark = pytest.mark.django_db


def test_a_person_who_is_removed_takes_keys_runs_and_gates_along():
    gate = make.gate()
    secret = people.key_of("alice")

    assert main(["user", "remove", "alice", "--tenant", people.TEAM]) == OK

    gate.refresh_from_db()
    assert gate.status == GateStatus.WITHDRAWN
    assert Run.objects.get(pk=gate.run_id).status == RunStatus.STOPPED
    with pytest.raises(Unauthenticated):
        people.of_key(secret)
    assert AuditEvent.objects.get(act="member_removed").subject == "alice"


def test_the_runs_of_others_go_on():
    gate = make.gate()
    people.bob()

    main(["user", "remove", "bob", "--tenant", people.TEAM])

    gate.refresh_from_db()
    assert gate.status == GateStatus.WAITING


def test_a_key_that_is_revoked_ends_with_its_runs():
    make.manifest()
    secret = people.ownerless_key(key_name="bot")
    row = make.run(people.of_key(secret))

    assert main(["key", "revoke", "bot", "--tenant", people.TEAM]) == OK

    assert Run.objects.get(pk=row.pk).reason == "authority_gone"
    with pytest.raises(Unauthenticated):
        people.of_key(secret)


@pytest.mark.parametrize("command", [["user", "remove"], ["key", "revoke"]])
def test_a_name_that_is_not_there_is_refused_and_changes_nothing(
    command: list[str], capsys: pytest.CaptureFixture[str]
):
    people.tenant()

    assert main([*command, "nobody", "--tenant", people.TEAM]) == USAGE

    assert "nobody" in capsys.readouterr().err
    assert not AuditEvent.objects.exists()


def test_a_stranger_of_the_same_name_in_another_tenant_stays():
    people.alice()
    create_member(username="alice", tenant=people.tenant("evil"), role="operator")

    main(["user", "remove", "alice", "--tenant", people.TEAM])

    left = Membership.objects.exclude(removed_at=None)
    assert [member.tenant.slug for member in left] == [people.TEAM]


def test_a_person_who_left_may_come_back_in_another_role():
    people.alice()
    main(["user", "remove", "alice", "--tenant", people.TEAM])

    main(["user", "create", "alice", "--tenant", people.TEAM, "--role", "viewer"])

    member = Membership.objects.get(user__username="alice")
    assert (member.removed_at, member.role) == (None, "viewer")
