"""The view of a run grows event by event, and by its own run's events only."""

from __future__ import annotations

from approvals.core.gate import GateStatus
from sessions.core.states import CallStatus
from tests.unit.agents.facts import answered, gate, result, started, view


def test_events_of_an_earlier_run_leave_the_view_as_it_was():
    seen = view(answered("act", run="run_0"), started("c0", run="run_0"))

    assert (seen.answers, seen.open_calls, seen.started) == (0, {}, {})


def test_open_calls_keep_the_models_order_when_a_later_one_ends_first():
    seen = view(answered("act", "look", "act"), result("c1"))

    assert list(seen.open_calls) == ["c0", "c2"]


def test_a_new_answer_forgets_what_the_one_before_had_started():
    seen = view(answered("act"), started("c0"), result("c0"), answered("act"))

    assert seen.started == {}
    assert list(seen.open_calls) == ["c0"]


def test_calls_that_ran_count_and_denied_ones_do_not():
    seen = view(
        answered("act", "act", "act", "act"),
        result("c0"),
        result("c1", CallStatus.DENIED),
        result("c2", CallStatus.INTERRUPTED),
        result("c3", CallStatus.CANCELLED),
    )

    assert seen.executed == 2


def test_the_newest_gate_of_a_call_is_the_one_that_counts():
    seen = view(answered("act"), gates=[gate("c0", GateStatus.WITHDRAWN), gate("c0")])

    assert seen.waits(seen.open_calls["c0"])


def test_the_final_text_is_that_of_the_last_answer():
    seen = view(answered("act", text="I try"), result("c0"), answered(text="It is done"))

    assert seen.final_text == "It is done"
