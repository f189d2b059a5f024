"""What a run does next, as a table: a view on the left, the step on the right."""

from __future__ import annotations

import pytest

from agents.core.limits import Limits
from agents.core.loop import CallModel, Finish, RunCalls, Step, Wait, next_step
from agents.core.view import RunView
from approvals.core.gate import GateStatus
from sessions.core.states import CallStatus, RunStatus, StopReason
from tests.unit.agents.facts import answered, gate, result, said, started, view

DONE = Finish(RunStatus.DONE, StopReason.END_TURN)


def runs(*call_ids: str) -> tuple[str, ...]:
    return call_ids


def in_short(step: Step) -> object:
    return tuple(c.call_id for c in step.calls) if isinstance(step, RunCalls) else step


CASES: dict[str, tuple[RunView, object]] = {
    "nothing said yet": (view(), CallModel()),
    "a message and no answer": (view(said()), CallModel()),
    "an answer without calls": (view(said(), answered(text="hi")), DONE),
    "an answer that was cut": (
        view(answered(text="h", stop=StopReason.MAX_TOKENS)),
        Finish(RunStatus.DONE, StopReason.MAX_TOKENS),
    ),
    "a refusal": (
        view(answered(text="no", stop=StopReason.REFUSAL)),
        Finish(RunStatus.DONE, StopReason.REFUSAL),
    ),
    "a call proposed, never started": (view(answered("act")), runs("c0")),
    "a call started, without a result": (view(answered("act"), started("c0")), runs("c0")),
    "a call with its result": (view(answered("act"), started("c0"), result("c0")), CallModel()),
    "a call denied": (view(answered("act"), result("c0", CallStatus.DENIED)), CallModel()),
    "one of two calls with its result": (
        view(answered("act", "look"), result("c0")),
        runs("c1"),
    ),
    "the later of two calls with its result": (
        view(answered("act", "look"), result("c1")),
        runs("c0"),
    ),
    "a gate waits": (view(answered("act"), gates=[gate("c0")]), Wait()),
    "a gate waits, and another effect": (
        view(answered("write", "act"), gates=[gate("c0")]),
        Wait(),
    ),
    "a gate waits, and a call that only reads": (
        view(answered("write", "look"), gates=[gate("c0")]),
        runs("c1"),
    ),
    "a gate waits, and a replay-safe call that may write": (
        view(answered("write", "again"), gates=[gate("c0")]),
        Wait(),
    ),
    "a gate waits behind a call that only reads": (
        view(answered("look", "write"), gates=[gate("c1")]),
        runs("c0"),
    ),
    "a gate waits, the reading is done": (
        view(answered("write", "look"), result("c1"), gates=[gate("c0")]),
        Wait(),
    ),
    "a gate waits for the call that only reads": (
        view(answered("write", "look"), gates=[gate("c0"), gate("c1")]),
        Wait(),
    ),
    "one of two gates settled": (
        view(answered("write", "act"), gates=[gate("c0", GateStatus.ANSWERED), gate("c1")]),
        Wait(),
    ),
    "every gate settled": (
        view(
            answered("write", "act"),
            gates=[gate("c0", GateStatus.ANSWERED), gate("c1", GateStatus.DENIED)],
        ),
        runs("c0", "c1"),
    ),
    "a gate expired": (view(answered("act"), gates=[gate("c0", GateStatus.EXPIRED)]), runs("c0")),
    "a gate withdrawn": (
        view(answered("act"), gates=[gate("c0", GateStatus.WITHDRAWN)]),
        runs("c0"),
    ),
    "a gate withdrawn while another waits": (
        view(answered("write", "act"), gates=[gate("c0", GateStatus.WITHDRAWN), gate("c1")]),
        runs("c0"),
    ),
    "asked again while another waits": (
        view(
            answered("write", "act"),
            gates=[gate("c0", GateStatus.WITHDRAWN), gate("c1"), gate("c0")],
        ),
        Wait(),
    ),
    "asked again after a settled gate": (
        view(answered("act"), gates=[gate("c0", GateStatus.ANSWERED), gate("c0")]),
        Wait(),
    ),
    "a gate of an earlier message waits no more for anybody": (
        view(answered("act"), result("c0"), gates=[gate("c0")]),
        CallModel(),
    ),
    "the last model turn had calls": (
        view(answered("act"), result("c0"), limits=Limits(recursion_limit=1)),
        Finish(
            RunStatus.FAILED,
            StopReason.MAX_TURNS,
            "max_turns",
            "The run used its 1 model turns and had not finished.",
        ),
    ),
    "the last model turn has open calls": (
        view(answered("act"), limits=Limits(recursion_limit=1)),
        runs("c0"),
    ),
    "no model turn at all": (
        view(said(), limits=Limits(recursion_limit=0)),
        Finish(
            RunStatus.FAILED,
            StopReason.MAX_TURNS,
            "max_turns",
            "The run used its 0 model turns and had not finished.",
        ),
    ),
}


@pytest.mark.parametrize(("seen", "expected"), CASES.values(), ids=CASES)
def test_the_next_step_follows_from_the_view_alone(seen: RunView, expected: object):
    assert in_short(next_step(seen, active_ms=0)) == expected


def test_asking_for_the_next_step_changes_nothing():
    seen = view(said(), answered("act", "look"), started("c0"), gates=[gate("c0")])
    before = repr(seen)

    next_step(seen, active_ms=0)

    assert repr(seen) == before


def test_a_run_that_used_its_working_time_has_failed_by_limit():
    step = next_step(view(answered("act")), active_ms=60_000)

    assert isinstance(step, Finish)
    assert (step.status, step.stop_reason, step.reason) == (
        RunStatus.FAILED,
        StopReason.LIMIT,
        "max_wall_clock",
    )


def test_the_last_millisecond_of_working_time_may_be_used():
    assert next_step(view(said()), active_ms=59_999) == CallModel()


def test_a_working_time_of_zero_is_none_at_all():
    step = next_step(view(said(), limits=Limits(max_wall_clock_seconds=0)), active_ms=0)

    assert isinstance(step, Finish)
    assert step.reason == "max_wall_clock"


def test_an_answer_that_came_with_the_last_second_still_counts():
    assert next_step(view(answered(text="hi")), active_ms=60_000) == DONE


def test_a_model_allows_no_more_turns_than_its_profile_and_a_manifest_no_more_than_its_own():
    limits = Limits(recursion_limit=10)

    assert limits.within(4).recursion_limit == 4
    assert limits.within(100) == limits
