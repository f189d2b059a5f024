import pytest

from approvals.core.gate import Decision
from approvals.deciding import Said, decide_gate
from approvals.selectors import gates_of_threads
from sessions.models import Run, Thread
from tests import make, people
from tests.panel.html import read

pytestmark = pytest.mark.django_db


def send(client, path="/threads/t1/", text="and now?", **changes):
    form = read(client.get(path)).form("/send/")
    return client.post(form.action, form.fields | {"message": text} | changes)


def test_an_empty_list_says_what_a_thread_is(browser):
    page = read(browser("alice").get("/threads/"))

    assert "No threads yet. A thread is one conversation with one agent." in page.words
    assert "/threads/new/" in page.links


def test_a_filter_without_a_match_is_not_an_empty_list(browser):
    page = read(browser("alice").get("/threads/?state=failed"))

    assert "No thread matches these filters." in page.words


def test_threads_that_wait_come_first_and_link_to_their_gate(browser):
    make.gate()
    make.finished(make.run(people.alice(), text="later one", thread="t2"))

    page = read(browser("bob").get("/threads/"))
    rows = [one for one in page.ids if one.startswith("thread-t")]

    assert rows == ["thread-t1", "thread-t2"]
    assert "/threads/t1/#gate" in page.links


@pytest.mark.parametrize(
    ("state", "shown"), [("waiting", ["t1"]), ("failed", ["t3"]), ("running", []), ("mine", [])]
)
def test_states_are_filters(browser, state, shown):
    make.gate()
    make.finished(make.run(people.alice(), thread="t2"))
    make.failed(make.run(people.alice(), thread="t3"))

    page = read(browser("bob").get(f"/threads/?state={state}"))

    assert [one for one in page.ids if one.startswith("thread-t")] == [
        f"thread-{name}" for name in shown
    ]


def test_mine_are_the_threads_i_own(browser):
    make.manifest()
    make.finished(make.run(people.alice(), thread="t1"))
    make.finished(make.run(people.dora(), thread="t2"))

    page = read(browser("alice").get("/threads/?state=mine"))

    assert [one for one in page.ids if one.startswith("thread-t")] == ["thread-t1"]


def test_older_threads_are_on_the_next_page(browser):
    make.manifest()
    for number in range(53):
        make.finished(make.run(people.alice(), thread=f"t{number}"))
    client = browser("carol")

    first = read(client.get("/threads/"))
    older = next(link for link in first.links if "before=" in link)
    second = read(client.get(older))

    assert [one for one in second.ids if one.startswith("thread-t")] == [
        "thread-t2",
        "thread-t1",
        "thread-t0",
    ]


def test_a_message_to_a_new_thread_starts_it_and_leads_there(browser):
    make.manifest()
    client = browser("alice")
    form = read(client.get("/threads/new/")).form("/threads/new/")

    answer = client.post(form.action, form.fields | {"agent": "writer", "message": "hello"})
    page = read(client.get(answer.url))

    assert answer.status_code == 302
    assert page.title == "Queued: hello - felix"
    assert Run.objects.get().manifest == "writer"


def test_a_form_sent_twice_starts_one_thread(browser):
    make.manifest()
    client = browser("alice")
    form = read(client.get("/threads/new/")).form("/threads/new/")
    body = form.fields | {"agent": "writer", "message": "hello"}

    first, second = client.post(form.action, body), client.post(form.action, body)

    assert first.url == second.url
    assert Run.objects.count() == 1


def test_an_empty_message_is_refused_before_anything_is_written(browser):
    make.manifest()
    client = browser("alice")
    form = read(client.get("/threads/new/")).form("/threads/new/")

    answer = client.post(form.action, form.fields | {"agent": "writer", "message": "  "})

    assert answer.status_code == 400
    assert "Type a message first." in read(answer).words
    assert Thread.objects.count() == 0


def test_u54_what_was_typed_stays_when_it_cannot_be_sent(browser):
    make.manifest()
    client = browser("alice")
    form = read(client.get("/threads/new/")).form("/threads/new/")

    answer = client.post(form.action, form.fields | {"agent": "nobody", "message": "my words"})

    assert answer.status_code == 404
    assert read(answer).form("/threads/new/").fields["message"] == "my words"


def test_a_starter_fills_the_form(browser):
    client = browser("alice")
    starter = next(
        link for link in read(client.get("/threads/new/")).links if "/threads/new/?agent=" in link
    )

    form = read(client.get(starter)).form("/threads/new/")

    assert form.fields["message"]


def test_a_viewer_is_told_that_they_cannot_start(browser):
    page = read(browser("carol").get("/threads/new/"))

    assert "Viewers read." in page.words
    assert not [one for one in page.forms if one.action == "/threads/new/"]


def test_the_next_message_continues_the_thread(browser):
    make.manifest()
    make.finished(make.run(people.alice()))
    client = browser("alice")

    answer = send(client)

    assert answer.url == "/threads/t1/"
    assert "and now?" in read(client.get(answer.url)).words


def test_while_a_run_goes_there_is_a_stop_and_no_send(browser):
    make.manifest()
    make.run(people.alice())

    page = read(browser("alice").get("/threads/t1/"))

    assert "A run is going. Stop it, or wait until it ends." in page.words
    assert not [one for one in page.forms if one.action.endswith("/send/")]


def test_a_message_that_lost_the_race_stays_and_nothing_is_sent(browser):
    make.manifest()
    make.finished(make.run(people.alice()))
    client = browser("alice")
    form = read(client.get("/threads/t1/")).form("/send/")
    make.run(people.alice(), text="from elsewhere")

    answer = client.post(form.action, form.fields | {"message": "mine"})

    assert answer.status_code == 409
    assert "Not sent, kept here" in read(answer).words
    assert b">mine</pre>" in answer.content
    assert Run.objects.count() == 2


def test_stop_ends_the_run_and_says_so(browser):
    make.gate()
    client = browser("alice")
    form = read(client.get("/threads/t1/")).form("/stop/")

    answer = client.post(form.action, form.fields)
    page = read(client.get(answer.url))

    assert page.title.startswith("Stopped: ")
    assert "The run was stopped" in page.words


@pytest.mark.parametrize("act", ["send", "stop"])
def test_a_viewer_can_neither_send_nor_stop(browser, act):
    make.manifest()
    row = make.run(people.alice())

    answer = browser("carol").post(f"/threads/t1/{act}/", {"tenant": "acme", "message": "x"})
    row.refresh_from_db()

    assert answer.status_code == 403
    assert row.status == "queued"


@pytest.mark.parametrize("act", ["send", "stop"])
def test_a_form_of_another_tenant_does_nothing(browser, act):
    make.manifest()
    row = make.run(people.alice())

    answer = browser("alice").post(f"/threads/t1/{act}/", {"tenant": "evil", "message": "x"})
    row.refresh_from_db()

    assert answer.status_code == 409
    assert row.status == "queued"


def test_the_scripted_demo_model_is_named_in_the_state(browser):
    make.manifest()
    make.run(people.alice())

    assert "Scripted demo model" in read(browser("carol").get("/threads/t1/")).words


def test_a_finished_thread_says_what_was_answered_and_as_of_when(browser):
    make.manifest()
    make.finished(make.run(people.alice()), "all done")

    page = read(browser("carol").get("/threads/t1/"))

    assert page.title.startswith("Done: ")
    assert "all done" in page.words
    assert "As of" in page.words


def test_older_events_are_behind_a_link(browser, monkeypatch):
    make.manifest()
    for number in range(60):
        make.finished(make.run(people.alice(), text=f"question {number}"), f"answer {number}")
    client = browser("carol")

    newest = read(client.get("/threads/t1/"))
    older = next(link for link in newest.links if "before=" in link)
    before = read(client.get(older))

    assert "question 59" in newest.words
    assert "question 1 " not in newest.words
    assert "question 1 " in before.words


def test_u40_markup_in_what_was_said_is_text(browser):
    make.manifest()
    make.finished(make.run(people.alice(), text="<script>alert(1)</script>\u202e"))

    html = browser("carol").get("/threads/t1/").content.decode()

    assert "<script>alert" not in html
    assert '<span class="mark-char">U+202E</span>' in html


def test_ids_are_unique_on_the_page(browser):
    make.gate()

    ids = read(browser("bob").get("/threads/t1/")).ids

    assert len(ids) == len(set(ids))


def test_the_page_of_a_thread_costs_the_same_queries_however_long_it_is(
    browser, django_assert_max_num_queries
):
    make.manifest()
    for number in range(10):
        make.finished(make.run(people.alice(), text=f"question {number}"))
    client = browser("carol")
    client.get("/threads/t1/")

    with django_assert_max_num_queries(40):
        client.get("/threads/t1/")


def threads_on(client, path="/threads/"):
    page = read(client.get(path))
    shown = [one.removeprefix("thread-") for one in page.ids if one.startswith("thread-t")]
    return shown, next((link for link in page.links if "before=" in link), None)


def test_more_active_threads_than_the_first_page_lifts_are_all_found(browser, monkeypatch):
    monkeypatch.setattr("agents.views.selectors.ACTIVE_ROWS", 1)
    monkeypatch.setattr("agents.views.selectors.PAGE_ROWS", 1)
    make.manifest()
    for name in ("t1", "t2", "t3"):
        make.run(people.alice(), thread=name)
    client = browser("alice")

    first, older = threads_on(client)
    second, _ = threads_on(client, older)

    assert (first, second) == (["t3", "t2"], ["t1"])


def test_requests_without_a_thread_take_no_place_of_the_active_threads(browser, monkeypatch):
    monkeypatch.setattr("agents.views.selectors.ACTIVE_ROWS", 1)
    monkeypatch.setattr("agents.views.selectors.PAGE_ROWS", 1)
    make.manifest()
    make.run(people.alice(), thread="t1")
    make.run(people.alice(), thread=None)
    make.finished(make.run(people.alice(), thread="t2"))
    make.finished(make.run(people.alice(), thread="t3"))

    shown, _ = threads_on(browser("alice"))

    assert shown == ["t1", "t3"]


def test_a_waiting_thread_names_its_call_without_its_evidence(browser):
    gate = make.gate()

    page = read(browser("bob").get("/threads/"))
    (row,) = gates_of_threads(thread_ids=[gate.thread_id])

    assert "write_file note.txt" in page.words
    assert row.get_deferred_fields() >= {"args", "edited_args", "evidence"}


def test_a_settled_gate_of_a_thread_leads_to_what_was_asked(browser):
    gate = make.gate()
    decide_gate(principal=people.bob(), gate_id=gate.pk, said=Said(Decision.DENY, "not now"))
    client = browser("bob")

    page = read(client.get("/threads/t1/"))

    assert "note.txt" in page.words
    assert f"/approvals/{gate.pk}/" in page.links
    assert "hello" in read(client.get(f"/approvals/{gate.pk}/")).words


@pytest.mark.parametrize("path", ["/threads/t1/", "/threads/new/"])
def test_a_message_that_is_too_long_is_refused_whole_and_never_cut(browser, path):
    make.manifest()
    make.finished(make.run(people.alice()))
    client = browser("alice")
    form = read(client.get(path)).forms[-1]

    answer = client.post(form.action, form.fields | {"message": "m" * 100_001})

    page = read(answer)
    assert answer.status_code == 400
    assert "at most; this has 100,001." in page.words
    assert page.forms[-1].fields["message"] == "m" * 100_001
    assert b"maxlength" not in client.get(path).content
    assert Run.objects.count() == 1


def test_who_stopped_a_run_is_named_where_it_ended_and_said_once_there(browser):
    make.gate()
    client = browser("dora")
    stop = read(client.get("/threads/t1/")).form("/stop/")
    client.post(stop.action, stop.fields)

    page = read(client.get("/threads/t1/"))

    assert "The run was stopped by dora." in page.words
    assert "run stopped by dora" in page.words
    assert page.words.count("by dora") == 3  # transcript, activity, state
    assert "a person" not in page.words


def test_a_first_approval_of_two_is_in_the_activity(browser):
    make.manifest(rule=", quorum: 2")
    gate = make.gate(make.run(people.alice()))
    for name in ("bob", "dora"):
        client = browser(name)
        form = read(client.get(f"/approvals/{gate.pk}/")).form("/decide/")
        client.post(form.action, form.fields | {"decision": "approve"})
        words = read(client.get("/threads/t1/")).words
        assert "bob approved, 1 of 2" in words

    assert "dora approved" in words
    assert "2 of 2" not in words.partition("Activity")[2]
