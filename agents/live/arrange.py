"""The order of frames on the wire (decisions 2.4), for what one read found. Pure.

A settled gate stands before the event that consumes it; the events of a commit before the gates
they opened; `waiting` after the gates the run waits for; the end of a run after all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from agents.live.items import Item, RunRow, end_item, run_item, usage_item
from approvals.core.gate import GateStatus
from sessions.core.events import EventKind
from sessions.core.states import RunStatus

CONSUMING = (EventKind.CALL_STARTED, EventKind.TOOL_RESULT)
AT_WORK = (RunStatus.QUEUED, RunStatus.RUNNING)


@dataclass(frozen=True, slots=True)
class Found:
    """What one read found: runs oldest first, events by seq, gates oldest first.

    `has_more` is True where there are events behind these: then the runs are further than the
    events, and what they say waits for the last page.
    """

    runs: tuple[RunRow, ...]
    events: tuple[Item, ...]
    gates: tuple[Item, ...]
    has_more: bool


def arranged(found: Found) -> list[Item]:
    """Return everything that was found, in the order in which it goes out."""
    gates = list(found.gates)
    if found.has_more:
        return list(_events(found.events, gates, None))
    answer: list[Item] = []
    events = list(found.events)
    for place, row in enumerate(found.runs):
        following = found.runs[place + 1 :]
        end = following[0].first_seq if following else None
        mine = [item for item in events if end is None or item.place[0] < end]
        events = events[len(mine) :]
        answer += _segment(row, mine, gates)
    return [*answer, *events]


def _segment(row: RunRow, events: Sequence[Item], gates: list[Item]) -> Iterator[Item]:
    run_id, status = row.state.run_id, row.state.status
    asked = _asked_here(events)
    yield from _taken(
        gates,
        lambda gate: (
            gate.run_id == run_id and gate.frame["call_id"] not in asked and _is_settled(gate)
        ),
    )
    if status in AT_WORK:
        yield run_item(row)
    yield from _events(events, gates, row)
    yield from _taken(gates, lambda gate: gate.run_id == run_id)
    if status not in AT_WORK:
        yield run_item(row)
    if not status.is_active:
        yield end_item(row)


def _events(events: Sequence[Item], gates: list[Item], row: RunRow | None) -> Iterator[Item]:
    """The usage goes behind the run's newest answer, or behind all of it where there is none."""
    metered = row if row is not None and any(row.usage_place[1:]) else None
    answers = [item for item in events if metered and _is_answer(item, metered.state.run_id)]
    for item in events:
        yield from _taken(gates, partial(_is_consumed, item))
        yield item
        if metered and answers and item is answers[-1]:
            yield usage_item(metered)
    if metered and not answers:
        yield usage_item(metered)


def _is_answer(item: Item, run_id: str) -> bool:
    return item.run_id == run_id and item.frame["kind"] == EventKind.ASSISTANT_MESSAGE


def _asked_here(events: Sequence[Item]) -> set[str]:
    """Return the calls that these events propose."""
    return {call["id"] for item in events for call in item.frame.get("tool_calls") or ()}


def _is_settled(gate: Item) -> bool:
    return bool(gate.frame["status"] != GateStatus.WAITING)


def _is_consumed(event: Item, gate: Item) -> bool:
    return (
        event.frame["kind"] in CONSUMING
        and (gate.run_id, gate.frame["call_id"]) == (event.run_id, event.frame.get("call_id"))
        and _is_settled(gate)
    )


def _taken(gates: list[Item], belongs: Callable[[Item], bool]) -> list[Item]:
    """Take the gates that belong here out of the list, and return them."""
    taken = [gate for gate in gates if belongs(gate)]
    gates[:] = [gate for gate in gates if not belongs(gate)]
    return taken
