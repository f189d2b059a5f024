"""The order of frames that one read found, and which of two about a thing is the newer."""

import pytest

from agents.live.arrange import Found, arranged
from agents.live.items import Marks, RunRow, event_item, gate_item, gate_place, run_item, usage_item
from approvals.core.gate import GateStatus
from sessions.core.events import Event, EventKind
from sessions.core.frames import RunState, UsageTotals
from sessions.core.states import RunStatus
from tests.live.reading import kind

ASKS = {"content": "", "tool_calls": [{"id": "c1"}]}


def row(status="running", *, run="r1", first=0, fence=1, used=0, waiting=()):
    usage = UsageTotals(output=used)
    state = RunState(run, "rt", RunStatus(status), waiting_on=waiting, usage=usage)
    return RunRow(state, first, fence, model_ms=used)


def event(seq, said, payload=None, *, run="r1", call=""):
    return event_item(Event(seq, 0, EventKind(said), run, 0, payload or {}, f"m{seq}", call))


def gate(status, *, call="c1", run="r1", number=1):
    said = {"gate_id": f"g{number}", "kind": "approval", "run_id": run, "call_id": call}
    place = gate_place(revision=1, stored=GateStatus(status), shown=GateStatus(status), approvals=0)
    return gate_item({**said, "status": status}, place)


def order(runs, events=(), gates=(), *, has_more=False):
    return [kind(item.frame) for item in arranged(Found(tuple(runs), events, gates, has_more))]


def test_a_settled_gate_stands_before_the_event_that_consumes_it():
    events = (event(0, "call_started", call="c1"), event(1, "tool_result", call="c1"))

    assert order([row()], events, (gate("answered"),)) == [
        "gate answered",
        "run running",
        "event call_started",
        "event tool_result",
    ]


def test_a_gate_that_was_opened_and_settled_at_once_stands_between():
    events = (
        event(0, "assistant_message", ASKS),
        event(1, "call_started", call="c1"),
    )

    assert order([row()], events, (gate("answered"),)) == [
        "run running",
        "event assistant_message",
        "gate answered",
        "event call_started",
    ]


def test_a_waiting_gate_stands_behind_its_message_and_before_the_run_that_waits():
    found = order(
        [row("waiting", used=3, waiting=("approval",))],
        (event(0, "assistant_message", ASKS),),
        (gate("waiting"),),
    )

    assert found == ["event assistant_message", "usage", "gate waiting", "run waiting"]


def test_a_gate_of_another_run_is_not_consumed():
    events = (event(5, "call_started", call="c1", run="r2"),)

    found = order([row("done"), row(run="r2", first=5)], events, (gate("answered"),))

    assert found == [
        "gate answered",
        "run done",
        "done",
        "run running",
        "event call_started",
    ]


def test_the_end_of_a_run_comes_behind_all_of_it_and_before_the_next_run():
    events = (event(0, "run_finished"), event(1, "user_message", run="r2"))

    found = order([row("done"), row("queued", run="r2", first=1)], events)

    assert found == ["event run_finished", "run done", "done", "run queued", "event user_message"]


def test_usage_comes_behind_the_newest_answer():
    events = (
        event(0, "assistant_message"),
        event(1, "assistant_message"),
        event(2, "run_finished"),
    )

    assert order([row("done", used=9)], events) == [
        "event assistant_message",
        "event assistant_message",
        "usage",
        "event run_finished",
        "run done",
        "done",
    ]


def test_a_page_with_more_behind_it_says_nothing_of_where_the_run_stands():
    found = order(
        [row("done", used=9)],
        (event(0, "call_started", call="c1"),),
        (gate("answered"), gate("denied", call="c2", number=2)),
        has_more=True,
    )

    assert found == ["gate answered", "event call_started"]


LIFE = [
    row("queued", fence=0),
    row("running"),
    row("waiting", waiting=("approval", "question")),
    row("waiting", waiting=("question",)),
    row("queued"),
    row("running", fence=2),
    row("queued", fence=2),
    row("running", fence=3),
    row("done", fence=3),
    row("queued", run="r2", first=9, fence=0),
]


def test_a_run_only_moves_on():
    places = [one.place for one in LIFE]

    assert places == sorted(places)
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("at", range(len(LIFE)))
def test_what_a_reader_has_is_not_news_and_neither_is_what_is_older(at):
    marks = Marks(next_seq=0)
    assert marks.take(run_item(LIFE[at]))

    assert not any(marks.take(run_item(older)) for older in LIFE[: at + 1])
    assert all(marks.take(run_item(newer)) for newer in LIFE[at + 1 :])


def test_events_usage_and_gates_are_news_once():
    marks = Marks(next_seq=3)
    items = [event(3, "note"), usage_item(row(used=4)), gate("waiting"), gate("answered")]

    assert not marks.take(event(2, "note"))
    assert [marks.take(item) for item in items] == [True] * 4
    assert [marks.take(item) for item in items] == [False] * 4


def test_a_gate_that_lapsed_by_the_clock_is_newer_than_one_that_waits():
    waits = gate_place(revision=1, stored=GateStatus.WAITING, shown=GateStatus.WAITING, approvals=2)
    lapsed = gate_place(
        revision=1, stored=GateStatus.WAITING, shown=GateStatus.EXPIRED, approvals=2
    )
    settled = gate_place(
        revision=2, stored=GateStatus.EXPIRED, shown=GateStatus.EXPIRED, approvals=2
    )

    assert waits < lapsed < settled
