"""Two web processes, two workers, one scheduler: any of them will do, and none is needed."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import redis

from tests.durability.client import Client
from tests.durability.harness import Production
from tests.durability.talk import Thread, append_call, decide
from tests.fakes.provider import FakeProvider

SHUTDOWN_SECONDS = 15.0


def frames(client: Client, thread: Thread) -> list[dict[str, Any]]:
    """Return the frames of a thread from its beginning to the end of its run."""
    response = client.open("GET", f"/api/chat/stream/{thread.name}", Last_Event_ID="0")
    with response:
        assert response.status == 200
        fields = response.read().decode().split("\n\n")
    data = [field.partition("data: ")[2] for field in fields if "data: " in field]
    assert data[-1] == "[DONE]"
    return [json.loads(text) for text in data[:-1]]


def test_a_run_sent_to_one_is_decided_at_the_other_and_followed_at_both(
    felix: Production,
) -> None:
    here, there = felix.client, felix.other_client
    thread = Thread(felix, "gated")
    thread.send(append_call("one"), here)
    gate = thread.waiting_gate(there)

    with ThreadPoolExecutor() as pool:
        following = [pool.submit(frames, client, thread) for client in (here, there)]
        answer = decide(there, gate)
        seen = [future.result(30) for future in following]

    assert answer.status == 200
    assert thread.run(here)["status"] == "done"
    logged = [event["seq"] for event in thread.events()]
    for one in seen:
        assert [frame["seq"] for frame in one if frame["type"] == "event"] == logged
        assert one[-1]["type"] == "done"
    assert thread.effects() == {"one": 1}


def test_of_two_decisions_at_once_at_both_the_first_wins_and_the_other_is_told(
    felix: Production,
) -> None:
    thread = Thread(felix, "gated")
    thread.send(append_call("one"))
    gate = thread.waiting_gate()

    with ThreadPoolExecutor() as pool:
        approving = pool.submit(decide, felix.client, gate, "approve")
        denying = pool.submit(decide, felix.other_client, gate, "deny")
        answers = sorted([approving.result(20), denying.result(20)], key=lambda one: one.status)
    thread.finish()

    assert [answer.status for answer in answers] == [200, 409]
    assert answers[1].body["gate"]["status"] == answers[0].body["status"]
    assert thread.effects().total() <= 1
    thread.check_log()


def test_a_worker_that_is_told_to_end_hands_its_run_over_without_waiting_for_the_lease(
    felix: Production, fake: FakeProvider
) -> None:
    thread = Thread(felix)
    asked = len(fake.requests)
    thread.send('call calculator {"expression": "1 + 1"}\nwith {"delay_ms": 700}\nthen\nsay over')
    fake.wait_for_request(asked + 1)

    for worker in felix.workers:
        worker.interrupt()
    codes = [worker.wait(SHUTDOWN_SECONDS) for worker in felix.workers]
    queued = thread.run()["status"]
    felix.restart()
    run = thread.finish()

    assert codes == [0, 0]
    assert queued in ("queued", "done")
    assert run["final"]["content"] == "over"
    assert len(fake.requests) == asked + 2
    thread.check_log()


def test_work_goes_on_when_every_message_was_lost(felix: Production) -> None:
    threads = [Thread(felix) for _ in range(5)]

    for worker in felix.workers:
        worker.kill()
    for thread in threads:
        thread.send(append_call("one"))
    with redis.Redis(port=felix.redis_port) as server:
        server.flushall()
    felix.restart()
    ends = [thread.finish(timeout=30)["status"] for thread in threads]

    assert ends == ["done"] * 5
    assert [thread.effects()["one"] for thread in threads] == [1] * 5


def test_runs_are_sent_decided_and_driven_while_redis_is_away(felix: Production) -> None:
    free = [Thread(felix) for _ in range(3)]
    gated = Thread(felix, "gated")
    assert felix.redis is not None

    felix.redis.kill()
    try:
        for thread in [*free, gated]:
            thread.send(append_call("one"))
        health = felix.client.get("/ready")
        decision = decide(felix.client, gated.waiting_gate())
        ends = [thread.finish()["status"] for thread in [*free, gated]]
    finally:
        felix.start_redis()

    assert health["status"] == "degraded"
    assert decision.status == 200
    assert ends == ["done"] * 4
    assert [thread.effects()["one"] for thread in [*free, gated]] == [1] * 4


def test_work_goes_on_soon_after_redis_is_back(felix: Production) -> None:
    thread = Thread(felix)
    assert felix.redis is not None

    felix.redis.kill()
    felix.start_redis()
    thread.send(append_call("one"))

    assert thread.finish()["status"] == "done"
