"""kill -9 at moments nobody chose: the client only sends again what was cut off."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from threading import Timer
from typing import Any

import pytest

from tests.durability.client import Answer, Dropped
from tests.durability.figures import Ledger, repetitions
from tests.durability.harness import Felix
from tests.durability.processes import wait_for
from tests.durability.talk import ENDED, Thread, append_call, decide

LONGEST_SECONDS = 2.0
DRIP = 'with {"drip_ms": 10, "drip_bytes": 40}'
SIDE_BY_SIDE = 3
TASK = f"""say a sentence that drips
{DRIP}
call calculator {{"expression": "6 * 7"}}
then
{append_call("one")}
call list_dir {{}}
{append_call("two")}
{DRIP}
then
say on to the last
{DRIP}
{append_call("three")}
then
say all written
"""


@pytest.mark.parametrize("_", range(repetitions()))
def test_runs_killed_at_any_moment_all_end_and_no_effect_happens_twice(
    felix: Felix, ledger: Ledger, _: int
) -> None:
    threads = [Thread(felix) for _ in range(SIDE_BY_SIDE)]
    kills = [ledger.kill("at any moment") for _ in threads]
    moment = random.uniform(0, LONGEST_SECONDS)

    for thread in threads:
        thread.send(TASK)
    time.sleep(moment)
    felix.kill_one()
    felix.restart()
    ends = [thread.finish(timeout=40) for thread in threads]

    for kill, thread in zip(kills, threads, strict=True):
        kill.measure(thread)
    assert [end["status"] for end in ends] == ["done"] * SIDE_BY_SIDE, f"killed after {moment} s"
    for thread in threads:
        check_effects(thread)
        thread.check_log()
    threads[0].check_usable()


@pytest.mark.parametrize("_", range(repetitions()))
def test_a_send_cut_off_by_a_kill_is_sent_again_under_its_key_and_runs_once(
    felix: Felix, ledger: Ledger, _: int
) -> None:
    kill, thread = ledger.kill("during a send"), Thread(felix)
    client, body = felix.client, thread.body(append_call("one"))
    killing = kill_soon(felix)

    with suppress(Dropped):
        client.post("/api/chat", body, Idempotency_Key=thread.name)
    killing.join()
    felix.restart()
    answer = wait_for(lambda: sent_again(thread, body), "the send was taken")
    thread.token = answer.body["resume_token"]
    run = thread.finish()

    kill.measure(thread)
    assert run["status"] == "done"
    assert len(thread.of_kind("user_message")) == 1
    check_effects(thread)
    thread.check_log()


@pytest.mark.parametrize("_", range(repetitions()))
def test_a_decision_cut_off_at_any_moment_is_there_whole_or_can_be_sent_again(
    felix: Felix, ledger: Ledger, _: int
) -> None:
    kill, thread = ledger.kill("during a decision"), Thread(felix, "gated")
    client = felix.client
    thread.send(append_call("one"))
    gate = thread.waiting_gate()
    thread.wait_for("waiting")
    killing = kill_soon(felix)

    with suppress(Dropped):
        decide(client, gate)
    killing.join()
    felix.restart()
    answer = felix.client.post(f"/api/approvals/{gate['gate_id']}/decide", {"decision": "approve"})
    run = thread.finish()

    kill.measure(thread)
    assert answer.status == 200, answer.text
    assert len(answer.body["approvals"]) == 1
    assert run["status"] == "done"
    check_effects(thread)
    thread.check_log()


def kill_soon(felix: Felix) -> Timer:
    """Return the timer that kills within the next 30 ms."""
    timer = Timer(random.uniform(0, 0.03), felix.kill_one)
    timer.start()
    return timer


def sent_again(thread: Thread, body: dict[str, Any]) -> Answer | None:
    """Return the answer that names the run: accepted, going already, or a replay of its end."""
    answer = thread.felix.client.post("/api/chat", body, Idempotency_Key=thread.name)
    assert answer.status in (200, 202, 409), answer.text
    return answer if "resume_token" in answer.body else None


def check_effects(thread: Thread) -> None:
    """Each write happened at most once, and exactly once where its result says that it is done."""
    writes = [event for event in thread.of_kind("tool_result") if event["tool"] == "write_file"]
    counted = thread.effects()
    assert all(count == 1 for count in counted.values()), counted
    done = [event for event in writes if event["status"] == "done"]
    unknown = [event for event in writes if event["status"] == "interrupted"]
    assert len(done) + len(unknown) == len(writes)
    assert len(done) <= len(counted) <= len(writes)
    assert thread.status() in ENDED
