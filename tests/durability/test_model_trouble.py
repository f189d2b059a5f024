"""The model cannot be reached, or never answers: the run says so, and the thread is free again."""

from __future__ import annotations

import time
from http.client import HTTPResponse

import pytest

from tests.durability.harness import Felix
from tests.durability.processes import wait_for
from tests.durability.talk import Thread
from tests.fakes.provider import FakeProvider, Recorded, Step

STOP_SECONDS = 1.0


def hanging(felix: Felix, fake: FakeProvider, thread: Thread) -> Recorded:
    """Return the request of a run whose model will never answer."""
    fake.script(Step(match=thread.name, hang=True))
    thread.send(f"say {thread.name}")
    return asked_about(fake, thread.name)


def asked_about(fake: FakeProvider, marker: str) -> Recorded:
    """Return the request that holds the marker, once it has come."""

    def look() -> Recorded | None:
        said = marker.encode()
        return next((record for record in list(fake.requests) if said in record.raw), None)

    return wait_for(look, "the model was asked")


def test_a_model_that_cannot_be_reached_fails_the_run_with_reason_and_attempts(
    felix: Felix,
) -> None:
    thread = Thread(felix)
    body = {**thread.body("say hello"), "model": "gone"}

    thread.token = felix.client.post("/api/chat", body).body["resume_token"]
    run = thread.finish()

    assert run["status"] == "failed"
    assert run["error"]["code"]
    assert "2 attempts" in run["error"]["message"]
    assert "Traceback" not in run["error"]["message"]
    thread.check_usable()


def test_a_stop_reaches_a_model_call_that_hangs_within_a_second(
    felix: Felix, fake: FakeProvider
) -> None:
    thread = Thread(felix)
    record = hanging(felix, fake, thread)

    began = time.time()
    answer = felix.other_client.post("/api/chat/abort", {"thread_id": thread.name})
    fake.wait_until(lambda: record.disconnected, timeout=10)

    assert (answer.status, answer.body["aborted"]) == (200, True)
    assert record.disconnected_at is not None
    assert record.disconnected_at - began < STOP_SECONDS
    assert thread.run()["status"] == "stopped"
    thread.check_log()
    thread.check_usable()


@pytest.mark.parametrize("path", ["/api/chat", "/api/chat/stream"])
def test_a_run_that_nobody_can_come_back_for_is_stopped_when_its_client_leaves(
    felix: Felix, fake: FakeProvider, path: str
) -> None:
    marker = Thread(felix).name
    fake.script(Step(match=marker, hang=True))
    body = {"manifest": "waits", "messages": [{"role": "user", "content": f"say {marker}"}]}

    connection = felix.client.begin("POST", path, body)
    record = asked_about(fake, marker)
    connection.close()

    assert fake.wait_until(lambda: record.disconnected, timeout=10)


def test_a_run_on_a_thread_goes_on_when_its_client_leaves(felix: Felix, fake: FakeProvider) -> None:
    thread = Thread(felix, "waits")
    fake.script(Step(match=thread.name, text="made without you", delay_ms=800))

    response = stream(felix, thread.body(f"say {thread.name}"))
    record = asked_about(fake, thread.name)
    response.close()
    wait_for(lambda: thread.of_kind("run_finished"), "the run's end is in the log")

    assert not record.disconnected
    assert thread.of_kind("assistant_message")[0]["content"] == "made without you"
    assert thread.of_kind("run_finished")[0]["status"] == "done"


def stream(felix: Felix, body: dict[str, object]) -> HTTPResponse:
    """Return the stream of a message that was sent, its first frame read."""
    response = felix.client.open("POST", "/api/chat/stream", body)
    assert response.status == 200
    response.readline()
    return response
