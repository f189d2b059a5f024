"""kill -9 between any two commits: the run goes on by itself, and no effect happens twice."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.durability.client import Dropped
from tests.durability.figures import Ledger, repetitions
from tests.durability.harness import Felix
from tests.durability.talk import Thread, append_call, decide

TASK = f"""task {{name}}
say first a look, in words enough for several deltas
call calculator {{{{"expression": "6 * 7"}}}}
call list_dir {{{{}}}}
then
{append_call("one").replace("{", "{{").replace("}", "}}")}
{append_call("two").replace("{", "{{").replace("}", "}}")}
then
say all written
"""


class Point(NamedTuple):
    """A place to kill at, and what is to be found afterwards.

    `fault` as FELIX_FAULT takes it. `lines`: of `one` and `two` in the file. `first_write`: how the
    first write ended. `questions`: requests the model got in all; 3 without a kill.
    """

    name: str
    fault: str
    lines: tuple[int, int] = (1, 1)
    first_write: str = "done"
    questions: int = 3


POINTS = (
    Point("before the model call", "before_model", questions=3),
    Point("in mid-stream", "mid_stream:2", questions=4),
    Point("after the message", "after_message:2"),
    Point("before a call's effect", "before_call:3", (0, 1), "interrupted"),
    Point("inside a replay-safe tool", "after_call:1"),
    Point("inside an unsafe tool", "after_call:3", (1, 1), "interrupted"),
    Point("between two results", "after_result:3"),
)
KILLS = range(repetitions())


@pytest.mark.parametrize("_", KILLS)
@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.name)
def test_a_killed_run_goes_on_by_itself_and_repeats_no_effect(
    felix: Felix, ledger: Ledger, point: Point, _: int
) -> None:
    kill, thread = ledger.kill(point.name), Thread(felix)

    felix.arm(point.fault)
    thread.send(TASK.format(name=thread.name))
    felix.wait_for_kill()
    felix.restart()
    run = thread.finish()

    kill.measure(thread)
    assert run["status"] == "done"
    assert run["final"]["content"] == "all written"
    assert thread.results() == [
        "calculator: done",
        "list_dir: done",
        f"write_file: {point.first_write}",
        "write_file: done",
    ]
    assert (thread.effects()["one"], thread.effects()["two"]) == point.lines
    assert questions(thread) == point.questions
    thread.check_log()
    thread.check_usable()


@pytest.mark.parametrize("_", KILLS)
def test_a_gate_waits_through_a_kill_and_its_call_runs_once_when_it_is_approved(
    felix: Felix, ledger: Ledger, _: int
) -> None:
    kill, thread = ledger.kill("while parked"), Thread(felix, "gated")
    thread.send(append_call("one"))
    before = thread.waiting_gate()
    thread.wait_for("waiting")

    felix.kill()
    felix.restart()
    gate = thread.waiting_gate()
    answer = decide(felix.client, gate)
    run = thread.finish()

    kill.measure(thread)
    assert gate == before
    assert answer.status == 200
    assert run["status"] == "done"
    assert thread.effects() == {"one": 1}
    thread.check_log()
    thread.check_usable()


@pytest.mark.parametrize("_", KILLS)
def test_a_decision_cut_off_by_a_kill_is_not_there_at_all_and_can_be_sent_again(
    felix: Felix, ledger: Ledger, _: int
) -> None:
    kill, thread = ledger.kill("while a decision is written"), Thread(felix, "gated")
    thread.send(append_call("one"))
    before = thread.waiting_gate()
    thread.wait_for("waiting")

    felix.arm("deciding")
    with pytest.raises(Dropped):
        decide(felix.client, before)
    felix.wait_for_kill()
    felix.restart()
    gate = thread.waiting_gate()
    answer = decide(felix.client, gate)
    run = thread.finish()

    kill.measure(thread)
    assert (gate["approvals"], gate["status"], answer.status) == ([], "waiting", 200)
    assert run["status"] == "done"
    assert thread.effects() == {"one": 1}
    thread.check_log()


def questions(thread: Thread) -> int:
    """Return how often the model was asked on this thread."""
    said = f"task {thread.name}".encode()
    return sum(said in record.raw for record in list(thread.felix.fake.requests))
