"""Waiting and streaming over REST: what a sender gets, live, again, and what is left when it goes
away."""

import asyncio
import json

import pytest

from sessions.models import Run
from tests import make, people
from tests.live.reading import db
from tests.surfaces.caller import message

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("bell")]


def agents_of_the_tenant():
    make.manifest()
    make.manifest("quickly", mode="transient")


@pytest.fixture
async def headers(bell):
    await db(agents_of_the_tenant)
    key = await db(people.key_of, "alice")
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
def post(async_client, headers):
    """Return a function that posts a body and returns the answer."""

    async def posted(path, body, key=None):
        more = {"Idempotency-Key": key} if key else {}
        return await async_client.post(
            path, json.dumps(body), content_type="application/json", headers={**headers, **more}
        )

    return posted


def row(run_id=None):
    rows = Run.objects.select_related("thread", "tenant")
    return rows.get(pk=run_id) if run_id else rows.get()


async def the_run(run_id=None):
    return await db(row, run_id)


async def end(bell):
    """A worker took the run and brought it to its end."""
    await db(make.finished, await the_run(await bell.next_run()))


async def fields(response):
    """Return everything a stream sent, as parsed data lines."""
    text = b"".join([part async for part in response]).decode()
    return [line[6:] for line in text.splitlines() if line.startswith("data: ")]


def types(data):
    return [json.loads(line)["type"] for line in data if line != "[DONE]"]


async def test_a_transient_message_is_answered_with_the_ended_run(bell, post):
    sending = asyncio.create_task(post("/api/chat", message(manifest="quickly")))
    await end(bell)

    answer = await sending

    body = answer.json()
    assert answer.status_code == 200
    assert set(body) == {"thread_id", "run", "final", "gates"}
    assert body["final"] == {"role": "assistant", "content": "all done"}
    assert body["run"]["status"] == "done"
    assert body["run"]["usage"]["input"] == 11


async def test_a_failed_transient_run_is_200_and_says_so(bell, post):
    sending = asyncio.create_task(post("/api/chat", message(manifest="quickly")))
    await db(make.failed, await the_run(await bell.next_run()))

    body = (await sending).json()

    assert (body["run"]["status"], body["final"]) == ("failed", None)
    assert body["run"]["error"]["code"] == "provider_unreachable"


async def test_a_run_that_takes_too_long_to_wait_for_is_accepted(post, monkeypatch):
    monkeypatch.setattr("felix_web.surfaces.rest.chat.LONGEST_WAIT_SECONDS", 0.05)

    answer = await post("/api/chat", message(manifest="quickly"))

    assert answer.status_code == 202
    assert answer.json()["status"] == "accepted"
    assert (await the_run()).status == "queued"


async def test_a_transient_resend_is_answered_with_the_same_run(bell, post):
    sending = asyncio.create_task(post("/api/chat", message(manifest="quickly"), "k1"))
    await end(bell)
    first = await sending

    again = await post("/api/chat", message(manifest="quickly"), "k1")

    assert (again.status_code, again.json()) == (200, first.json())
    assert again.headers["Idempotent-Replayed"] == "true"


async def sent_and_gone(bell, post, path, body, key=None):
    """Send, wait until the run is there, and go away."""
    sending = asyncio.create_task(post(path, body, key))
    run_id = await bell.next_run()
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    return await the_run(run_id)


@pytest.mark.parametrize("path", ["/api/chat", "/api/chat/stream"])
async def test_nobodys_run_is_stopped_when_its_sender_goes_away_at_once(bell, post, path):
    body = message(manifest="quickly", thread_id=None)

    left = await sent_and_gone(bell, post, path, body)

    assert (left.status, left.reason) == ("stopped", "aborted")


async def test_nobodys_run_is_stopped_when_its_sender_stops_waiting(bell, post):
    body = message(manifest="quickly", thread_id=None)
    sending = asyncio.create_task(post("/api/chat", body))
    run_id = await bell.next_run()
    await db(make.claimed, await the_run(run_id))
    await bell.somebody_reads((await the_run(run_id)).thread_id)

    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)

    assert (await the_run(run_id)).status == "stopped"


async def test_nobodys_run_is_stopped_when_its_reader_goes_away(bell, post):
    answer = await post("/api/chat/stream", message(manifest="quickly", thread_id=None))
    run_id = await bell.next_run()
    reading = asyncio.create_task(fields(answer))
    await bell.somebody_reads((await the_run(run_id)).thread_id)

    reading.cancel()

    await bell.next_stop()
    assert (await the_run(run_id)).status == "stopped"


@pytest.mark.parametrize(
    ("body", "key"),
    [
        (message(manifest="quickly"), None),
        (message(manifest="quickly", thread_id=None), "k1"),
    ],
    ids=["thread", "key"],
)
async def test_a_run_that_somebody_can_come_back_for_goes_on(bell, post, body, key):
    left = await sent_and_gone(bell, post, "/api/chat", body, key)

    assert left.status == "queued"


async def test_a_stream_is_unbuffered_and_begins_with_the_run(bell, post):
    answer = await post("/api/chat/stream", message())
    await end(bell)

    data = await fields(answer)

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    assert types(data)[0] == "run"
    assert {"event", "usage", "done"} <= set(types(data))
    assert data[-1] == "[DONE]"


async def test_a_resent_stream_replays_the_ended_run_and_runs_nothing(bell, post):
    first = await post("/api/chat/stream", message(), "k1")
    await end(bell)
    live = await fields(first)

    answer = await post("/api/chat/stream", message(), "k1")
    again = await fields(answer)

    assert answer.headers["Idempotent-Replayed"] == "true"
    assert [line for line in again if '"event"' in line] == [
        line for line in live if '"event"' in line
    ]
    assert again[-1] == "[DONE]"
    assert await db(Run.objects.count) == 1


async def test_a_resent_stream_of_a_durable_run_goes_on_following_it(bell, post):
    first = await post("/api/chat/stream", message(), "k1")
    again = await post("/api/chat/stream", message(), "k1")
    await end(bell)

    data = await fields(again)

    assert again.status_code == 200
    assert "Idempotent-Replayed" not in again.headers
    assert (types(data)[0], data[-1]) == ("run", "[DONE]")
    assert await fields(first)
    assert await db(Run.objects.count) == 1


async def test_a_resent_stream_of_a_transient_run_is_409_while_it_is_going(bell, post):
    body = message(manifest="quickly")
    first = await post("/api/chat/stream", body, "k1")

    again = await post("/api/chat/stream", body, "k1")

    assert (again.status_code, again.json()["code"]) == (409, "idempotency_in_progress")
    await end(bell)
    await fields(first)


async def test_both_send_routes_share_one_key(bell, post):
    await post("/api/chat", message(), "k1")

    other = await post("/api/chat/stream", message("other"), "k1")
    await end(bell)
    again = await post("/api/chat/stream", message(), "k1")

    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (await fields(again))[-1] == "[DONE]"


async def test_a_refused_stream_is_a_status_and_not_a_stream(post):
    answer = await post("/api/chat/stream", message(manifest="none"))

    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_manifest")


async def test_a_reader_comes_back_at_its_cursor(bell, post, async_client, headers):
    await post("/api/chat", message())
    await end(bell)
    given = {**headers, "Last-Event-ID": "2"}

    answer = await async_client.get("/api/chat/stream/t1", headers=given)

    events = [json.loads(line) for line in await fields(answer) if '"seq"' in line]
    assert [event["seq"] for event in events if event["type"] == "event"] == [2, 3]


async def test_the_query_carries_the_cursor_too(bell, post, async_client, headers):
    await post("/api/chat", message())
    await end(bell)

    answer = await async_client.get("/api/chat/stream/t1?last_event_id=4", headers=headers)

    assert (answer.status_code, answer.content) == (204, b"")


@pytest.mark.parametrize("garbage", ["", "x", "-1", "1.5", "9" * 40])
async def test_a_cursor_that_is_none_counts_as_absent(bell, post, async_client, headers, garbage):
    await post("/api/chat", message())
    await end(bell)
    given = {**headers, "Last-Event-ID": garbage}

    answer = await async_client.get("/api/chat/stream/t1", headers=given)

    assert types(await fields(answer))[0] == "snapshot"


async def test_abort_stops_the_run_and_shows_the_thread(post):
    await post("/api/chat", message())

    stopped = (await post("/api/chat/abort", {"thread_id": "t1"})).json()
    again = (await post("/api/chat/abort", {"thread_id": "t1"})).json()

    assert (stopped["ok"], stopped["aborted"], stopped["thread_id"]) == (True, True, "t1")
    assert stopped["snapshot"]["run"]["status"] == "stopped"
    assert (again["ok"], again["aborted"]) == (True, False)


async def test_a_thread_is_its_snapshot(post, async_client, headers):
    await post("/api/chat", message())

    body = (await async_client.get("/api/chat/sessions/t1", headers=headers)).json()

    assert {"thread", "run", "events", "gates", "branches", "has_more"} <= set(body)
    assert body["thread"]["thread_id"] == "t1"


async def test_head_of_a_stream_is_its_headers_alone(post, async_client, headers):
    await post("/api/chat", message())

    answer = await async_client.head("/api/chat/stream/t1", headers=headers)

    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["Content-Type"] == "text/event-stream"


async def test_the_log_names_the_model_of_a_run_that_began_and_that_it_is_scripted(post, caplog):
    caplog.set_level("INFO", "agents")

    await post("/api/chat", message("something private"))

    began = [record for record in caplog.records if record.getMessage() == "run_started"]
    assert [(one.model, one.scripted) for one in began] == [("scripted", True)]
    assert began[0].run_id == (await the_run()).pk
    assert "private" not in str(began[0].__dict__)
