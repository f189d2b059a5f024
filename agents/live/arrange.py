"""The order of frames on the wire (decisions 2.4), for what one read found. Pure.

A settled gate stands before the event that consumes it; the events of a commit before the gates they opened; `waiting`
after the gates the run waits for; the end of a run after all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.live.items import Item, RunRow, end_item, run_item, usage_item
from sessions.core.events import EventKind
from sessions.core.frames import FrameType
from sessions.core.states import RunStatus

CONSUMING = (EventKind.CALL_STARTED, EventKind.TOOL_RESULT)
AT_WORK = (RunStatus.QUEUED, RunStatus.RUNNING)


@dataclass(frozen=True, slots=True)
class Found:
    """What one read found: runs oldest first, events by seq, gates oldest first.

    `has_more` is True where there are events behind these: then the runs are further than the events, and what they say
    waits for the last page.
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
    status = row.state.status
    if status in AT_WORK:
        yield run_item(row)
    yield from _events(events, gates, row)
    yield from _taken(gates, row.state.run_id, None)
    if status not in AT_WORK:
        yield run_item(row)
    if not status.is_active:
        yield end_item(row)


def _events(events: Sequence[Item], gates: list[Item], row: RunRow | None) -> Iterator[Item]:
    """The usage goes behind the run's newest answer, or behind all of it where there is none."""
    newest = None
    if row is not None:
        answers = [item for item in events if _is_answer(item, row.state.run_id)]
        newest = answers[-1] if answers else None
    for item in events:
        if item.frame["kind"] in CONSUMING and item.run_id is not None:
            yield from _taken(gates, item.run_id, item.frame.get("call_id"))
        yield item
        if row is not None and item is newest:
            yield usage_item(row)
    if row is not None and newest is None:
        yield usage_item(row)


def _is_answer(item: Item, run_id: str) -> bool:
    return item.run_id == run_id and item.frame["kind"] == EventKind.ASSISTANT_MESSAGE


def _taken(gates: list[Item], run_id: str, call_id: str | None) -> list[Item]:
    """Take the run's gates, or those of one call that wait no more, out of the list, and return them."""
    taken = [
        gate
        for gate in gates
        if gate.run_id == run_id
        and (call_id is None or (gate.frame["call_id"] == call_id and not _waits(gate)))
    ]
    gates[:] = [gate for gate in gates if gate not in taken]
    return taken


def _waits(gate: Item) -> bool:
    return gate.kind is FrameType.GATE and gate.frame["status"] == "waiting"
