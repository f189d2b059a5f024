"""Sending, looking and stopping over REST."""

import pytest

from sessions.models import Run
from tests import make, people
from tests.surfaces.caller import Caller, message, refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    make.manifest()
    return Caller("alice")


def the_run() -> Run:
    return Run.objects.select_related("thread").get()


def test_a_durable_message_is_accepted_at_once(alice):
    answer = alice.send()

    body = answer.json()
    assert answer.status_code == 202
    assert set(body) == {"status", "resume_token", "thread_id", "expires_at"}
    assert (body["status"], body["thread_id"]) == ("accepted", "t1")
    assert body["resume_token"] == the_run().resume_token
    assert body["expires_at"] > 1_700_000_000_000


def test_parts_are_joined_by_newlines(alice):
    parts = [{"type": "text", "text": "a"}, {"text": "b"}]

    alice.send(message(parts))

    events = alice.get("/api/chat/history/t1").json()["events"]
    assert events[0]["content"] == "a\nb"


def test_several_messages_are_several_events_of_one_run(alice):
    said = [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]

    alice.send(message(messages=said))

    kinds = [event["kind"] for event in alice.get("/api/chat/history/t1").json()["events"]]
    assert kinds == ["user_message", "user_message", "run_started"]


def test_a_second_message_while_a_run_is_going_is_409_with_its_token(alice):
    token = alice.send().json()["resume_token"]

    problem = refused(alice.send(message("again")), 409, "run_in_progress")

    assert problem["resume_token"] == token
    assert Run.objects.count() == 1


def test_a_message_without_a_thread_has_a_hidden_one(alice):
    body = alice.send(message(thread_id=None)).json()

    assert body["thread_id"] is None
    assert alice.get("/api/chat/sessions").json()["items"] == []


def test_a_viewer_may_not_send(alice):
    refused(Caller("carol").send(), 403, "not_an_operator")


def test_chat_needs_no_scope(alice):
    bare = Caller(key=people.key_of("alice", scopes=[]))

    assert bare.send().status_code == 202


def test_a_token_tells_how_its_run_stands(alice):
    token = alice.send().json()["resume_token"]
    make.finished(the_run(), "all done")

    body = alice.get(f"/api/chat/runs/{token}").json()

    assert body["status"] == "done"
    assert body["final"] == {"role": "assistant", "content": "all done"}
    assert (body["error"], body["thread_id"], body["resume_token"]) == (None, "t1", token)


def test_a_failed_run_says_why(alice):
    token = alice.send().json()["resume_token"]
    make.failed(the_run(), "provider_unreachable", "No answer in 3 attempts.")

    body = alice.get(f"/api/chat/runs/{token}").json()

    assert body["status"] == "failed"
    assert body["error"] == {
        "code": "provider_unreachable",
        "message": "No answer in 3 attempts.",
    }
    assert alice.send(message("again")).status_code == 202


def test_a_run_whose_time_is_over_is_expired_with_nobody_looking(alice):
    token = alice.send().json()["resume_token"]
    run = the_run()
    Run.objects.update(expires_at=run.created_at)

    assert alice.get(f"/api/chat/runs/{token}").json()["status"] == "expired"


def test_an_unknown_token_is_404(alice):
    refused(alice.get("/api/chat/runs/rt_none"), 404, "not_found")


def test_threads_are_listed_newest_first_page_by_page(alice):
    for name in ("a", "b", "c"):
        alice.send(message(thread_id=name))

    first = alice.get("/api/chat/sessions?limit=2").json()
    second = alice.get(f"/api/chat/sessions?limit=2&cursor={first['next_cursor']}").json()

    assert [row["thread_id"] for row in first["items"]] == ["c", "b"]
    assert [row["thread_id"] for row in second["items"]] == ["a"]
    assert second["next_cursor"] is None


def test_threads_of_one_moment_stand_on_exactly_one_page(alice):
    from sessions.models import Thread

    for name in ("a", "b", "c"):
        alice.send(message(thread_id=name))
    Thread.objects.update(updated_at=Thread.objects.first().updated_at)

    first = alice.get("/api/chat/sessions?limit=2").json()
    second = alice.get(f"/api/chat/sessions?limit=2&cursor={first['next_cursor']}").json()

    rows = [row["thread_id"] for row in first["items"] + second["items"]]
    assert sorted(rows) == ["a", "b", "c"]


def test_a_listed_thread_says_whether_a_run_is_going(alice):
    alice.send(message("Write the report\nplease"))

    row = alice.get("/api/chat/sessions").json()["items"][0]

    assert (row["name"], row["manifest"]) == ("Write the report", "writer")
    assert row["status"] == "queued"


def test_the_demo_says_that_it_is_scripted_in_the_list_and_in_a_runs_state(alice):
    token = alice.send().json()["resume_token"]

    assert alice.get("/api/chat/sessions").json()["items"][0]["scripted"] is True
    assert alice.get(f"/api/chat/runs/{token}").json()["scripted"] is True


def test_a_thread_whose_newest_run_a_real_model_answers_is_not_scripted(alice):
    alice.send()
    Run.objects.update(is_scripted=False)

    assert alice.get("/api/chat/sessions").json()["items"][0]["scripted"] is False


def test_history_pages_backwards(alice):
    alice.send()
    make.finished(the_run(), "all done")

    newest = alice.get("/api/chat/history/t1?limit=2").json()
    older = alice.get(f"/api/chat/history/t1?before_seq={newest['oldest_seq']}").json()

    assert [event["seq"] for event in newest["events"]] == [2, 3]
    assert newest["has_more"] is True
    assert [event["seq"] for event in older["events"]] == [0, 1]
    assert older["has_more"] is False


def test_history_never_shows_what_is_sealed(alice):
    from sessions.models import Event

    alice.send()
    Event.objects.update(sealed={"signature": "secret-signature"})

    assert "secret-signature" not in alice.get("/api/chat/history/t1").content.decode()


def test_history_of_no_thread_is_404(alice):
    refused(alice.get("/api/chat/history/none"), 404, "not_found")
