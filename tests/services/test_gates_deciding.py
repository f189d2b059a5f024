"""The first decision wins, in the database; who may decide is the rule's to say."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agents.services.stopping import abort_run
from approvals.core.gate import Decision, GateStatus
from approvals.deciding import Said, decide_gate
from approvals.errors import (
    AlreadyDecided,
    GateExpired,
    GateWithdrawn,
    NeedsAMember,
    NoSelfApproval,
    NotAReviewer,
)
from approvals.models import Gate
from approvals.selectors import gate_for, gate_json
from felix_web.audit.models import AuditEvent
from felix_web.common.errors import NotFound
from felix_web.tenancy.models import Membership, Role
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now
from felix_web.tenancy.services import remove_member
from sessions.core.states import RunStatus
from sessions.models import Run
from tests import make, people

pytestmark = pytest.mark.django_db
APPROVE, DENY = Said(Decision.APPROVE), Said(Decision.DENY)


def say(who: Principal, gate: Gate, said: Said = APPROVE) -> Gate:
    return decide_gate(principal=who, gate_id=gate.pk, said=said)


def gate_under(rule: str = "") -> Gate:
    make.manifest(rule=rule)
    return make.gate(make.run())


def status_of(gate: Gate) -> str:
    return Gate.objects.get(pk=gate.pk).status


def test_an_approval_settles_the_gate_and_queues_the_run():
    gate = gate_under()

    settled = say(people.bob(), gate)

    assert (settled.status, settled.settled_by) == (GateStatus.ANSWERED, "bob")
    assert Run.objects.get(pk=gate.run_id).status == RunStatus.QUEUED


def test_the_same_word_again_changes_nothing():
    gate = gate_under()
    first = say(people.bob(), gate)

    again = say(people.dora(), gate)

    assert (again.settled_by, again.revision) == ("bob", first.revision)
    assert AuditEvent.objects.filter(act="gate_answered").count() == 1


def test_a_second_different_decision_is_refused_and_changes_nothing():
    gate = gate_under()
    say(people.bob(), gate)

    with pytest.raises(AlreadyDecided, match="bob"):
        say(people.dora(), gate, DENY)

    assert status_of(gate) == GateStatus.ANSWERED
    assert gate.decisions.count() == 1


def test_a_late_decision_is_refused_by_the_databases_clock_with_no_sweep():
    gate = gate_under()
    Gate.objects.filter(pk=gate.pk).update(expires_at=database_now() - timedelta(seconds=1))

    with pytest.raises(GateExpired):
        say(people.bob(), gate)

    assert gate.decisions.count() == 0


def test_a_gate_of_a_stopped_run_cannot_be_decided():
    gate = gate_under()
    abort_run(principal=people.alice(), thread=gate.thread)

    with pytest.raises(GateWithdrawn):
        say(people.bob(), gate)


def test_a_stranger_finds_no_gate():
    gate = gate_under()

    with pytest.raises(NotFound):
        say(people.mallory(), gate)


def test_two_members_make_a_quorum_of_two():
    gate = gate_under(", quorum: 2")

    assert say(people.bob(), gate).status == GateStatus.WAITING
    assert say(people.dora(), gate).status == GateStatus.ANSWERED


def test_one_member_with_a_login_and_two_keys_is_not_a_quorum():
    gate = gate_under(", quorum: 2")
    keys = [people.of_key(people.key_of("bob")) for _ in range(2)]

    for credential in (people.bob(), *keys):
        say(credential, gate)

    assert status_of(gate) == GateStatus.WAITING
    assert gate.decisions.count() == 1


def test_a_member_cannot_turn_an_approval_into_a_denial():
    gate = gate_under(", quorum: 2")
    say(people.bob(), gate)

    with pytest.raises(AlreadyDecided):
        say(people.bob(), gate, DENY)

    assert status_of(gate) == GateStatus.WAITING


def test_one_denial_denies_whatever_the_quorum():
    gate = gate_under(", quorum: 3")
    say(people.bob(), gate)

    assert say(people.dora(), gate, DENY).status == GateStatus.DENIED


def test_a_key_without_an_owner_cannot_be_part_of_a_quorum():
    gate = gate_under(", quorum: 2")

    with pytest.raises(NeedsAMember):
        say(people.of_key(people.ownerless_key()), gate)


def test_the_word_of_one_who_has_left_is_no_part_of_a_quorum():
    gate = gate_under(", quorum: 2")
    say(people.bob(), gate)
    remove_member(tenant=people.tenant(), username="bob")

    assert say(people.dora(), gate).status == GateStatus.WAITING
    shown = gate_json(gate_for(tenant_id=gate.tenant_id, gate_id=gate.pk), now=database_now())
    assert [one["by"] for one in shown["approvals"]] == ["dora"]


def test_the_word_of_one_who_may_not_decide_any_more_is_no_part_of_a_quorum():
    gate = gate_under(", quorum: 2")
    say(people.bob(), gate)
    Membership.objects.filter(user__username="bob").update(role=Role.VIEWER)

    assert say(people.dora(), gate).status == GateStatus.WAITING


def test_a_word_counts_again_once_its_reviewer_may_decide_again():
    gate = gate_under(", quorum: 2")
    say(people.bob(), gate)
    Membership.objects.filter(user__username="bob").update(role=Role.VIEWER)
    say(people.dora(), gate)
    Membership.objects.filter(user__username="bob").update(role=Role.REVIEWER)

    assert say(people.bob(), gate).status == GateStatus.ANSWERED


def test_a_part_of_a_quorum_said_again_leaves_no_second_trace():
    gate = gate_under(", quorum: 2")

    say(people.bob(), gate)
    say(people.bob(), gate)

    assert AuditEvent.objects.filter(act="gate_approved_in_part").count() == 1


def test_a_key_without_an_owner_decides_where_the_rule_asks_for_nobody_in_particular():
    gate = gate_under()

    assert say(people.of_key(people.ownerless_key()), gate).status == GateStatus.ANSWERED


def test_a_key_without_an_owner_is_none_of_the_reviewers_a_rule_names():
    gate = gate_under(", reviewers: [admin]")

    with pytest.raises(NeedsAMember):
        say(people.of_key(people.ownerless_key()), gate)

    assert status_of(gate) == GateStatus.WAITING


def test_a_key_without_an_owner_cannot_approve_what_it_started():
    make.manifest()
    bot = people.of_key(people.ownerless_key())
    gate = make.gate(make.run(bot))

    with pytest.raises(NeedsAMember):
        say(bot, gate)

    assert status_of(gate) == GateStatus.WAITING


def test_a_key_without_an_owner_cannot_stand_for_somebody_else():
    gate = gate_under(", allow_self: false")

    with pytest.raises(NeedsAMember):
        say(people.of_key(people.ownerless_key()), gate)


def test_the_starter_decides_where_the_rule_lets():
    assert say(people.alice(), gate_under()).status == GateStatus.ANSWERED


def test_the_starter_cannot_decide_where_the_rule_forbids_it():
    gate = gate_under(", allow_self: false")

    with pytest.raises(NoSelfApproval):
        say(people.alice(), gate)

    assert say(people.bob(), gate).status == GateStatus.ANSWERED


def test_the_starter_cannot_decide_with_a_key_of_its_own_either():
    gate = gate_under(", allow_self: false")

    with pytest.raises(NoSelfApproval):
        say(people.of_key(people.key_of("alice")), gate)


def test_a_viewer_cannot_decide():
    gate = gate_under()

    with pytest.raises(NotAReviewer):
        say(people.carol(), gate)


def test_a_rule_for_admins_takes_no_reviewers_word():
    gate = gate_under(", reviewers: [admin]")

    with pytest.raises(NotAReviewer):
        say(people.bob(), gate)

    assert say(people.dora(), gate).status == GateStatus.ANSWERED


def test_a_decision_records_who_by_what_way_and_on_which_contract():
    gate = gate_under()
    say(people.bob(), gate, Said(Decision.DENY, 'say "no"\nplease'))

    [row] = gate.decisions.all()

    assert (row.name, row.decision, row.note) == ("bob", "deny", 'say "no"\nplease')
    assert row.digest == gate.digest
