import pytest

from approvals.models import Decision, Gate
from felix_web.audit.models import AuditEvent
from sessions.models import Run
from tests import make, people
from tests.panel.html import read

pytestmark = pytest.mark.django_db

LONG = {"path": "long.txt", "content": "".join(f"line {number}\n" for number in range(100))}


def form_of(client, gate):
    return read(client.get(f"/approvals/{gate.pk}/")).form("/decide/")


def decide(client, gate, decision="approve", form=None, **changes):
    form = form or form_of(client, gate)
    return client.post(form.action, form.fields | {"decision": decision} | changes)


def status_of(gate):
    return Gate.objects.get(pk=gate.pk).status


def test_an_approval_leads_back_to_the_card_with_its_outcome(browser):
    gate, client = make.gate(), browser("bob")

    answer = decide(client, gate, note="looks right")
    page = read(client.get(answer.url))

    assert answer.url == f"/approvals/{gate.pk}/#gate-{gate.pk}"
    assert "Approved by bob at" in page.words
    assert "looks right" in page.words
    assert Run.objects.get().status == "queued"


def test_a_denial_leads_back_to_the_card_with_its_outcome(browser):
    gate, client = make.gate(), browser("bob")

    answer = decide(client, gate, "deny", note="not today")

    assert "Denied by bob at" in read(client.get(answer.url)).words
    assert status_of(gate) == "denied"


def test_a_decision_on_the_thread_page_leads_back_to_the_thread(browser):
    gate, client = make.gate(), browser("bob")
    form = read(client.get("/threads/t1/")).form("/decide/")

    answer = decide(client, gate, form=form)

    assert answer.url == f"/threads/t1/#gate-{gate.pk}"
    assert "Approved by bob" in read(client.get("/threads/t1/")).words


def test_the_form_carries_what_was_seen(browser):
    gate = make.gate()

    fields = form_of(browser("bob"), gate).fields

    assert fields["digest"] == gate.digest
    assert fields["revision"] == str(gate.revision)
    assert fields["tenant"] == "acme"
    assert fields["key"].startswith("act_")


def test_u30_the_evidence_stands_before_the_buttons(browser):
    gate = make.gate()

    html = browser("bob").get(f"/approvals/{gate.pk}/").content.decode()

    evidence, consequence = html.index("hello"), html.index("If approved")
    assert evidence < consequence < html.index('value="approve"') < html.index('value="deny"')


def test_u35_a_second_decision_is_refused_with_the_truth_and_changes_nothing(browser):
    gate, late = make.gate(), browser("bob")
    form = form_of(late, gate)
    decide(browser("dora"), gate, "deny")

    answer = decide(late, gate, form=form)
    page = read(answer)

    assert answer.status_code == 409
    assert "dora denied this at" in page.words
    assert "Nothing was sent." in page.words
    assert "approve" not in answer.content.decode()
    assert Decision.objects.count() == 1


def test_the_same_decision_sent_twice_is_done_once(browser):
    gate, client = make.gate(), browser("bob")
    form = form_of(client, gate)

    first, second = decide(client, gate, form=form), decide(client, gate, form=form)

    assert [first.status_code, second.status_code] == [302, 302]
    assert Decision.objects.count() == 1


def test_u36_a_card_of_an_older_digest_decides_nothing(browser):
    gate, client = make.gate(), browser("bob")

    answer = decide(client, gate, digest="0" * 64, seen="0" * 64)

    assert answer.status_code == 409
    assert status_of(gate) == "waiting"
    assert "Nothing was sent." in read(answer).words


def test_a_card_of_an_older_revision_decides_nothing_and_keeps_the_note(browser):
    gate, client = make.gate(), browser("bob")

    answer = decide(client, gate, revision="9", note="half a thought")

    assert answer.status_code == 409
    assert read(answer).form("/decide/").fields["note"] == "half a thought"
    assert status_of(gate) == "waiting"


@pytest.mark.parametrize("broken", [{"decision": "maybe"}, {"revision": ""}, {"digest": ""}])
def test_a_form_that_no_card_shows_decides_nothing(browser, broken):
    gate, client = make.gate(), browser("bob")

    answer = decide(client, gate, **broken)

    assert answer.status_code == 400
    assert status_of(gate) == "waiting"


def test_a_form_of_another_tenant_decides_nothing(browser):
    gate, client = make.gate(), browser("bob")

    answer = decide(client, gate, tenant="evil")

    assert answer.status_code == 409
    assert "another tenant" in read(answer).words
    assert status_of(gate) == "waiting"


def test_u37_a_gate_whose_time_is_over_has_no_buttons_and_says_so(browser):
    gate, client = make.gate(), browser("bob")
    form = form_of(client, gate)
    Gate.objects.filter(pk=gate.pk).update(expires_at=gate.created_at)

    answer = decide(client, gate, form=form)
    page = read(answer)

    assert answer.status_code == 409
    assert "Denied by time at" in page.words
    assert not [one for one in page.forms if "/decide/" in one.action]


def test_u33_approve_on_folded_evidence_unfolds_it_and_decides_nothing(browser):
    gate, client = make.gate(args=LONG), browser("bob")

    answer = decide(client, gate, note="wait")
    page = read(answer)

    assert answer.status_code == 200
    assert "40 lines you have not seen are now shown." in page.words
    assert page.form("/decide/").fields["note"] == "wait"
    assert status_of(gate) == "waiting"


def test_u33_the_second_press_sends(browser):
    gate, client = make.gate(args=LONG), browser("bob")
    unfolded = read(decide(client, gate)).form("/decide/")

    answer = decide(client, gate, form=unfolded)

    assert answer.status_code == 302
    assert status_of(gate) == "answered"


def test_u33_deny_needs_no_unfolding(browser):
    gate, client = make.gate(args=LONG), browser("bob")

    assert decide(client, gate, "deny").status_code == 302
    assert status_of(gate) == "denied"


def test_u32_the_fold_says_how_many_lines_it_hides(browser):
    gate = make.gate(args=LONG)

    assert "40 more lines" in read(browser("bob").get(f"/approvals/{gate.pk}/")).words


def test_u39_a_viewer_sees_the_evidence_and_why_there_are_no_buttons(browser):
    gate = make.gate()

    page = read(browser("carol").get(f"/approvals/{gate.pk}/"))

    assert "hello" in page.words
    assert "The rule names other reviewers." in page.words
    assert not [one for one in page.forms if "/decide/" in one.action]


def test_u39_a_viewers_decision_is_refused(browser):
    gate = make.gate()
    form = form_of(browser("bob"), gate)

    answer = decide(browser("carol"), gate, form=form)

    assert answer.status_code == 403
    assert status_of(gate) == "waiting"


def test_u39_with_self_approval_off_the_starter_is_told_who_may(browser):
    make.manifest(rule=", allow_self: false")
    gate = make.gate(make.run(people.dora()))

    page = read(browser("dora").get(f"/approvals/{gate.pk}/"))

    assert "the rule wants another reviewer to decide" in page.words
    assert not [one for one in page.forms if "/decide/" in one.action]


def test_u39_the_first_of_two_approvals_does_not_resume_the_run(browser):
    make.manifest(rule=", quorum: 2")
    gate, client = make.gate(make.run(people.alice())), browser("bob")

    page = read(client.get(decide(client, gate).url))

    assert "1 of 2 approved so far" in page.words
    assert "You approved this." in page.words
    assert status_of(gate) == "waiting"
    assert Run.objects.get().status == "waiting"


def test_u40_what_hides_in_arguments_is_marked_and_counted(browser):
    args = {"path": "a.txt", "content": "x = 1 \u202e<script>alert(1)</script>\u200b\x1b\n"}
    gate = make.gate(args=args)

    html = browser("bob").get(f"/approvals/{gate.pk}/").content.decode()

    for mark in ("U+202E", "U+200B", "ESC"):
        assert f'<span class="mark-char">{mark}</span>' in html
    assert "<script>alert" not in html
    assert "3 invisible characters shown" in html


def test_the_inbox_shows_my_queue_with_the_nearest_gate_open(browser):
    gate = make.gate()

    page = read(browser("bob").get("/approvals/"))

    assert f"row-{gate.pk}" in page.ids
    assert f"gate-{gate.pk}" in page.ids


def test_an_empty_queue_says_what_would_bring_a_gate(browser):
    make.gate()

    page = read(browser("carol").get("/approvals/"))

    assert "Gates appear here when a rule stops a call." in page.words
    assert "Team 1" in page.words


def test_history_shows_what_was_decided_by_whom(browser):
    gate, client = make.gate(), browser("bob")
    decide(client, gate, "deny", note="no")

    page = read(client.get("/approvals/?queue=history"))

    assert f"row-{gate.pk}" in page.ids
    assert "by bob, with a note" in page.words


def test_the_gate_of_a_request_without_a_thread_has_its_page(browser):
    make.manifest()
    gate, client = make.gate(make.run(people.alice(), thread=None)), browser("bob")

    page = read(client.get(f"/approvals/{gate.pk}/"))
    answer = decide(client, gate)

    assert "asked by a request without a thread" in page.words
    assert answer.url == f"/approvals/{gate.pk}/#gate-{gate.pk}"


def test_a_file_that_changed_under_the_card_is_not_approved_and_the_run_asks_again(browser):
    gate, client = make.gate(), browser("bob")
    form = form_of(client, gate)
    make.workspace_of(gate.run).workspace.replace("note.txt", b"somebody else was here\n")

    answer = decide(client, gate, form=form)

    assert answer.status_code == 409
    assert "Nothing was sent" in read(answer).words
    assert status_of(gate) == "withdrawn"
    assert Run.objects.get().status == "queued"


def test_u37_a_reviewer_moves_the_deadline_and_a_card_from_before_is_stale(browser):
    gate, client = make.gate(), browser("bob")
    before = form_of(client, gate)
    extend = read(client.get(f"/approvals/{gate.pk}/")).form("/extend/")

    answer = client.post(extend.action, extend.fields)

    moved = Gate.objects.get(pk=gate.pk)
    assert answer.status_code == 302
    assert (moved.expires_at - gate.expires_at).total_seconds() == 900
    assert AuditEvent.objects.filter(act="gate_extended", actor="bob").exists()
    assert decide(client, gate, form=before).status_code == 409


def test_u37_a_deadline_that_the_rule_calls_essential_stays(browser):
    make.manifest(rule=", extendable: false")
    gate, client = make.gate(make.run()), browser("bob")

    answer = client.post(f"/approvals/{gate.pk}/extend/", {"tenant": "acme"})

    assert "Extend" not in read(client.get(f"/approvals/{gate.pk}/")).words
    assert answer.status_code == 409
    assert Gate.objects.get(pk=gate.pk).expires_at == gate.expires_at


def test_u37_who_may_not_decide_may_not_extend(browser):
    gate = make.gate()

    answer = browser("carol").post(f"/approvals/{gate.pk}/extend/", {"tenant": "acme"})

    assert answer.status_code == 403
    assert Gate.objects.get(pk=gate.pk).expires_at == gate.expires_at


def test_after_a_file_changed_the_old_card_leads_to_the_new_one(browser):
    gate, client = make.gate(), browser("bob")
    form = form_of(client, gate)
    make.workspace_of(gate.run).workspace.replace("note.txt", b"somebody else came by\n")

    before = read(decide(client, gate, form=form))
    newer = make.asked_again(gate)
    after = read(decide(client, gate, form=form))

    assert "Look for the new card of this call" in before.words
    assert "Open the new card of this call" in after.words
    assert f"/approvals/{newer.pk}/" in after.links
    assert "it is asked again. Nothing was sent." in after.words


def test_a_gate_of_a_stopped_run_leads_to_no_new_card(browser):
    gate, client = make.gate(), browser("dora")
    stop = read(client.get("/threads/t1/")).form("/stop/")
    client.post(stop.action, stop.fields)

    assert "new card" not in read(client.get(f"/approvals/{gate.pk}/")).words


def test_a_note_that_is_too_long_decides_nothing_and_comes_back_whole(browser):
    gate, client = make.gate(), browser("bob")

    answer = decide(client, gate, "deny", note="n" * 2_001)

    page = read(answer)
    assert answer.status_code == 400
    assert "at most; this has 2,001. Nothing was sent." in page.words
    assert page.form("/decide/").fields["note"] == "n" * 2_001
    card = client.get(f"/approvals/{gate.pk}/").content.partition(b"gate-body")[2]
    assert b"maxlength" not in card
    assert status_of(gate) == "waiting"
