"""Many at once on one thing: exactly one is first, and who comes second changes nothing."""

from functools import partial

import pytest

from agents.models import Manifest, ManifestVersion
from agents.services.deciding import Word, decide
from agents.services.manifests import put_manifest
from agents.services.sending import Message, send
from approvals.core.gate import Decision
from approvals.models import Decision as DecisionRow
from approvals.models import Gate
from felix_web.audit.models import AuditEvent
from sessions.models import Event, IdempotencyKey, Run
from tests import make, people
from tests.services.together import errors, together

pytestmark = pytest.mark.django_db(transaction=True)


def sending(key="", thread="t1", principal=None):
    message = Message("writer", ("write note.txt",), thread=thread, key=key, fingerprint="f")
    return partial(send, principal=principal or people.alice(), message=message)


def test_twenty_resends_at_once_are_one_run():
    make.manifest()

    sent = together([sending("k1")] * 20)

    assert errors(sent) == []
    assert len({one.run.pk for one in sent}) == 1
    assert sum(not one.is_resend for one in sent) == 1
    assert (Run.objects.count(), IdempotencyKey.objects.count()) == (1, 1)
    assert Event.objects.filter(kind="user_message").count() == 1


def test_twenty_resends_without_a_thread_are_one_run():
    make.manifest()

    sent = together([sending("k1", thread=None)] * 20)

    assert len({one.run.pk for one in sent}) == 1
    assert Run.objects.count() == 1


def test_of_two_messages_to_one_thread_one_is_refused_and_writes_nothing():
    make.manifest()
    before = AuditEvent.objects.count()

    sent = together([sending("k1"), sending("k2", principal=people.bob())])

    assert errors(sent) == ["run_in_progress"]
    assert (Run.objects.count(), IdempotencyKey.objects.count()) == (1, 1)
    assert Event.objects.filter(kind="user_message").count() == 1
    assert AuditEvent.objects.count() == before + 1


def test_the_refused_one_of_two_messages_is_told_the_others_token():
    make.manifest()

    sent = together([sending("k1"), sending("k2")])

    tokens = [one.fields["resume_token"] for one in sent if not hasattr(one, "run")]
    assert tokens == [Run.objects.get().resume_token]


def deciding(gate, principal, word):
    return partial(decide, principal=principal, gate_id=gate.pk, word=Word(word))


def test_of_two_reviewers_who_differ_one_wins_and_the_other_is_told_who():
    gate = make.gate()
    bob = deciding(gate, people.bob(), Decision.APPROVE)
    dora = deciding(gate, people.dora(), Decision.DENY)

    outcomes = together([bob, dora])

    settled = Gate.objects.get()
    loser = next(one for one in outcomes if not isinstance(one, Gate))
    assert errors(outcomes) == ["already_decided"]
    assert loser.fields["gate"]["decided_by"] == settled.settled_by
    assert DecisionRow.objects.get().name == settled.settled_by


def test_a_decision_against_an_abort_leaves_no_gate_waiting():
    from agents.services.stopping import abort_run

    gate = make.gate()
    abort = partial(abort_run, principal=people.alice(), thread=gate.thread)

    together([abort, deciding(gate, people.bob(), Decision.APPROVE)])

    assert Run.objects.get().status == "stopped"
    assert Gate.objects.get().status in ("answered", "withdrawn")


def test_one_key_for_two_words_at_once_is_one_decision():
    gate = make.gate()
    bob = partial(decide, principal=people.bob(), gate_id=gate.pk)
    words = [Word(Decision.APPROVE, key="k1"), Word(Decision.DENY, key="k1")]

    outcomes = together([partial(bob, word=word) for word in words])

    assert len(errors(outcomes)) == 1
    assert (DecisionRow.objects.count(), IdempotencyKey.objects.count()) == (1, 1)


def test_one_decision_resent_ten_times_at_once_is_one_decision():
    gate = make.gate()
    word = partial(
        decide,
        principal=people.bob(),
        gate_id=gate.pk,
        word=Word(Decision.APPROVE, key="k1"),
    )

    outcomes = together([word] * 10)

    assert errors(outcomes) == []
    assert DecisionRow.objects.count() == 1


def test_two_puts_of_one_manifest_at_once_both_land_in_order():
    dora = people.dora()
    puts = [
        partial(put_manifest, principal=dora, name="writer", text=make.manifest_text(ttl=ttl))
        for ttl in (60, 120)
    ]

    outcomes = together(puts)

    assert errors(outcomes) == []
    assert sorted(ManifestVersion.objects.values_list("number", flat=True)) == [1, 2]
    assert Manifest.objects.get().live_version == 2


def test_the_first_use_of_a_bundled_manifest_by_many_is_one_version():
    alice = people.alice()
    sends = [
        partial(send, principal=alice, message=Message("quick", ("hi",), thread=f"t{n}"))
        for n in range(8)
    ]

    outcomes = together(sends)

    assert errors(outcomes) == []
    assert ManifestVersion.objects.count() == 1
