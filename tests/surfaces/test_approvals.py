"""Gates over REST: read, decided, and every way a decision can come too late or from the wrong
one."""

from datetime import timedelta

import pytest
from django.utils import timezone

from approvals.models import Decision, Gate
from sessions.models import IdempotencyKey, Run
from tests import make, people
from tests.surfaces.caller import Caller, refused

pytestmark = pytest.mark.django_db

FIELDS = {
    "gate_id",
    "kind",
    "run_id",
    "thread_id",
    "call_id",
    "tool",
    "args",
    "evidence",
    "rule_id",
    "reason",
    "digest",
    "revision",
    "status",
    "expires_at",
    "decided_by",
    "note",
}


@pytest.fixture
def gate():
    return make.gate()


@pytest.fixture
def bob(gate):
    return Caller("bob")


def lapse(gate):
    Gate.objects.filter(pk=gate.pk).update(expires_at=timezone.now() - timedelta(seconds=1))


def test_a_waiting_gate_is_listed_with_everything_its_frame_has(bob, gate):
    body = bob.get("/api/approvals?status=waiting&thread_id=t1").json()

    assert set(body["items"][0]) >= FIELDS
    assert body["items"][0]["gate_id"] == gate.pk
    assert body["items"][0]["evidence"]["diff"] == [["+", None, 1, "hello"]]
    assert body["next_cursor"] is None


def test_the_list_of_another_thread_or_status_is_empty(bob):
    assert bob.get("/api/approvals?thread_id=t2").json()["items"] == []
    assert bob.get("/api/approvals?status=denied").json()["items"] == []


def test_one_gate_is_what_the_list_shows(bob, gate):
    listed = bob.get("/api/approvals/").json()["items"][0]

    assert bob.get(f"/api/approvals/{gate.pk}").json() == listed


def test_gates_are_listed_newest_first_each_on_one_page(bob):
    run = make.run(thread="t2")
    make.gate(run, call_id="call_2")

    first = bob.get("/api/approvals?limit=1").json()
    second = bob.get(f"/api/approvals?limit=1&cursor={first['next_cursor']}").json()

    assert [row["call_id"] for row in first["items"]] == ["call_2"]
    assert [row["call_id"] for row in second["items"]] == ["call_1"]
    assert second["next_cursor"] is None


def test_an_approval_settles_the_gate_and_wakes_the_run(bob, gate):
    shown = {"digest": gate.digest, "revision": gate.revision}

    answer = bob.decide(gate.pk, note="fine", **shown)

    body = answer.json()
    assert answer.status_code == 200
    assert (body["status"], body["decided_by"], body["note"]) == ("answered", "bob", "fine")
    assert body["revision"] > gate.revision
    assert Run.objects.get().status == "queued"


def test_a_denial_keeps_its_note_for_the_model(bob, gate):
    body = bob.decide(gate.pk, "deny", note="not that file").json()

    assert (body["status"], body["note"]) == ("denied", "not that file")
    assert Run.objects.get().status == "queued"


def test_the_same_word_again_changes_nothing(bob, gate):
    first = bob.decide(gate.pk, note="fine")
    again = bob.decide(gate.pk, note="fine")

    assert (again.status_code, again.json()) == (200, first.json())
    assert Decision.objects.count() == 1


def test_a_second_different_word_is_409_and_tells_who_was_first(bob, gate):
    bob.decide(gate.pk)

    problem = refused(Caller("dora").decide(gate.pk, "deny"), 409, "already_decided")

    assert "bob" in problem["detail"]
    assert (problem["gate"]["status"], problem["gate"]["decided_by"]) == ("answered", "bob")
    assert Decision.objects.count() == 1


def test_a_gate_whose_time_is_over_is_denied_by_time_without_any_worker(bob, gate):
    lapse(gate)

    problem = refused(bob.decide(gate.pk), 409, "gate_expired")

    assert problem["gate"]["status"] == "expired"
    assert bob.get("/api/approvals?status=expired").json()["items"][0]["gate_id"] == gate.pk
    assert bob.get("/api/approvals?status=waiting").json()["items"] == []
    assert Gate.objects.get().status == "waiting"


def test_a_withdrawn_gate_is_409(bob, gate):
    from agents.services.stopping import abort_run

    abort_run(principal=people.alice(), thread=gate.thread)

    problem = refused(bob.decide(gate.pk), 409, "gate_withdrawn")
    assert problem["gate"]["settled_because"] == "run_stopped"


@pytest.mark.parametrize("stale", [{"digest": "wrong"}, {"revision": 7}])
@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_what_the_card_did_not_show_is_not_decided(bob, gate, stale, decision):
    problem = refused(bob.decide(gate.pk, decision, **stale), 409, "stale_gate")

    assert problem["gate"]["digest"] == gate.digest
    assert Decision.objects.count() == 0


def test_a_file_that_changed_under_the_card_is_409_and_asked_again(bob, gate):
    make.workspace_of(gate.run).workspace.replace("note.txt", b"someone was here\n")

    problem = refused(bob.decide(gate.pk), 409, "evidence_changed")

    assert problem["gate"]["status"] == "withdrawn"
    assert problem["gate"]["settled_because"] == "evidence_changed"
    assert Run.objects.get().status == "queued"
    assert Decision.objects.count() == 0


def test_edited_arguments_are_approved_in_place_of_the_models(bob, gate):
    edit = {"path": "note.txt", "content": "good morning\n"}

    body = bob.decide(gate.pk, edited_args=edit).json()

    assert (body["status"], body["edited_args"], body["args"]) == ("answered", edit, gate.args)
    assert body["digest"] != gate.digest
    assert body["evidence"]["diff"] == [["+", None, 1, "good morning"]]


@pytest.mark.parametrize(
    "edit",
    [{}, {"path": "note.txt"}, {"path": 1, "content": "x"}, {"path": "../x", "content": "x"}],
)
def test_edited_arguments_that_do_not_fit_the_tool_are_422(bob, gate, edit):
    refused(bob.decide(gate.pk, edited_args=edit), 422, "invalid_edited_args")

    assert Gate.objects.get().status == "waiting"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"decision": "maybe"},
        {"decision": "approve", "note": "x" * 4001},
        {"decision": "approve", "edited_args": "x"},
        {"decision": "approve", "revision": "1"},
        {"decision": "approve", "because": "x"},
    ],
)
def test_a_word_of_a_wrong_shape_is_422(bob, gate, body):
    refused(bob.post(f"/api/approvals/{gate.pk}/decide", body), 422, "invalid_input")

    assert Decision.objects.count() == 0


def test_a_viewer_reads_gates_and_decides_none(gate):
    carol = Caller("carol")

    assert carol.get(f"/api/approvals/{gate.pk}").json()["can_decide"] is False
    refused(carol.decide(gate.pk), 403, "missing_scope")


def test_a_key_without_the_scopes_neither_reads_nor_decides(gate):
    bare = Caller(key=people.key_of("bob", scopes=[]))

    refused(bare.get("/api/approvals"), 403, "missing_scope")
    refused(bare.get(f"/api/approvals/{gate.pk}"), 403, "missing_scope")
    refused(bare.decide(gate.pk), 403, "missing_scope")


def test_an_operator_of_another_thread_is_no_reviewer():
    make.manifest()
    gate = make.gate(make.run(people.dora()))

    refused(Caller("alice").decide(gate.pk), 403, "not_a_reviewer")


def test_the_operator_who_owns_the_thread_decides_where_the_rule_lets(gate):
    assert Caller("alice").decide(gate.pk).status_code == 200


def test_nobody_decides_on_a_run_of_their_own_where_the_rule_forbids_it():
    make.manifest(rule=", allow_self: false")
    gate = make.gate(make.run(people.dora()))

    refused(Caller("dora").decide(gate.pk), 403, "no_self_approval")
    assert Caller("bob").decide(gate.pk).status_code == 200


def test_two_keys_and_a_login_of_one_member_are_not_a_quorum():
    make.manifest(rule=", quorum: 2")
    gate = make.gate(make.run())

    for _ in range(3):
        assert Caller("bob").decide(gate.pk).json()["status"] == "waiting"

    assert Caller("dora").decide(gate.pk).json()["status"] == "answered"


def test_an_ownerless_key_counts_in_no_quorum():
    make.manifest(rule=", quorum: 2")
    gate = make.gate(make.run())

    bot = Caller(key=people.ownerless_key())

    refused(bot.decide(gate.pk), 403, "needs_a_member")


def test_one_of_two_reviewers_cannot_edit_what_the_other_approved():
    make.manifest(rule=", quorum: 2")
    gate = make.gate(make.run())
    Caller("bob").decide(gate.pk)

    edit = {"path": "note.txt", "content": "more\n"}
    refused(Caller("dora").decide(gate.pk, edited_args=edit), 422, "invalid_edited_args")

    assert Gate.objects.get().status == "waiting"


def test_a_key_takes_the_same_word_twice_and_no_other(bob, gate):
    first = bob.decide(gate.pk, key="k1", note="fine")
    again = bob.decide(gate.pk, key="k1", note="fine")

    assert (first.status_code, again.json()) == (200, first.json())
    refused(bob.decide(gate.pk, "deny", key="k1"), 422, "idempotency_key_reused")


def test_a_refused_decision_leaves_its_key_free(bob, gate):
    refused(bob.decide(gate.pk, key="k1", digest="wrong"), 409, "stale_gate")

    assert IdempotencyKey.objects.count() == 0
    assert bob.decide(gate.pk, "deny", key="k1").status_code == 200


def test_a_key_of_a_send_is_free_for_a_decision(gate):
    alice = Caller("alice")
    alice.send({"manifest": "writer", "messages": [{"role": "user", "content": "x"}]}, key="k1")

    assert alice.decide(gate.pk, key="k1").status_code == 200


def test_a_hidden_threads_gate_is_listed_without_a_thread_and_decided_by_its_id():
    make.manifest()
    gate = make.gate(make.run(thread=None))
    bob = Caller("bob")

    assert bob.get("/api/approvals").json()["items"][0]["thread_id"] is None
    assert bob.decide(gate.pk).json()["status"] == "answered"


def test_an_unknown_gate_is_404(bob):
    refused(bob.get("/api/approvals/gate_none"), 404, "not_found")
    refused(bob.decide("gate_none"), 404, "not_found")
