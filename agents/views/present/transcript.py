"""The transcript: turns, calls and notices in the order of the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.views.present.call import CallParts, CallRow, present_call
from agents.views.present.gate import GateCard
from agents.views.present.text import paragraphs
from sessions.core.events import EventKind
from sessions.core.states import RunStatus

Wire = Mapping[str, Any]

ENDINGS = {
    RunStatus.FAILED: "The run failed",
    RunStatus.STOPPED: "The run was stopped",
    RunStatus.EXPIRED: "The run expired",
}
STOP_WORDS = {
    "max_tokens": "The answer ends here: the model reached its length limit.",
    "refusal": "The model declined to answer.",
}
NOTES = {
    EventKind.STEER: "Steered",
    EventKind.FOLLOW_UP: "Follow-up",
    EventKind.REWOUND: "Rewound; what came after stays on its branch.",
    EventKind.COMPACTION: "Earlier events were summarised.",
    EventKind.BRANCH_SUMMARY: "Branch summary",
    EventKind.NOTE: "Note",
    EventKind.SETTLED: "An interrupted call was settled",
}
REASON_WORDS = {
    "superseded": "left behind by a rewind",
    "dead": "it could not be carried on and was given up",
    "max_turns": "it reached its turn limit",
    "limit": "it reached a limit of its manifest",
}


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person or the agent said. `kind` is `you` or `agent`."""

    seq: int
    kind: str
    who: str
    at_ms: int
    paragraphs: tuple[str, ...]
    thoughts: tuple[str, ...] = ()
    after: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence about the thread itself."""

    seq: int
    at_ms: int
    words: str
    is_bad: bool = False

    kind = "notice"


Item = Turn | CallRow | Notice


@dataclass(frozen=True, slots=True)
class Transcript:
    """The items, oldest first. `older_before` is the seq to ask for older ones, or None."""

    items: tuple[Item, ...]
    older_before: int | None = None
    is_newest: bool = True


def reason_words(reason: str, by: str = "") -> str:
    """Return why a run ended, in words; an unknown reason is shown as it stands.

    Args:
        by: Who ended it, where a person did and the log names them.
    """
    if reason == "aborted":
        return f"by {by or 'a person'}"
    return REASON_WORDS.get(reason, reason.replace("_", " "))


def joined(ending: str, event: Wire) -> str:
    """Return how a run ended with why: `run stopped by ana`, `run failed: it reached a limit`."""
    reason = str(event.get("reason") or "")
    words = reason_words(reason, str(event.get("by") or ""))
    if not words:
        return ending
    return f"{ending} {words}" if reason == "aborted" else f"{ending}: {words}"


def _collect_calls(events: Iterable[Wire]) -> dict[str, CallParts]:
    calls: dict[str, CallParts] = {}
    for event in events:
        kind = event["kind"]
        if kind == EventKind.ASSISTANT_MESSAGE:
            for call in event.get("tool_calls") or ():
                calls[call["id"]] = CallParts(
                    call["id"], call.get("name", ""), call.get("args") or {}, event["ts"]
                )
        elif kind in (EventKind.CALL_STARTED, EventKind.TOOL_RESULT):
            call_id = str(event.get("call_id") or "")
            parts = calls.setdefault(
                call_id, CallParts(call_id, str(event.get("tool") or ""), {}, event["ts"])
            )
            _take(parts, event)
    return calls


def _take(parts: CallParts, event: Wire) -> None:
    parts.settled = event.get("gate") or parts.settled
    if event["kind"] == EventKind.CALL_STARTED:
        parts.started_ms = event["ts"]
        return
    parts.result, parts.result_ms = event, event["ts"]
    started = event.get("started_ms")
    if parts.started_ms is None and isinstance(started, int) and started > 0:
        parts.started_ms = started


def _notice(event: Wire) -> Notice | None:
    kind = event["kind"]
    if kind == EventKind.RUN_FINISHED:
        ending = ENDINGS.get(event.get("status", ""))
        if ending is None:
            return None
        words = f"{joined(ending, event)}."
        return Notice(
            event["seq"], event["ts"], words, is_bad=event.get("status") != RunStatus.STOPPED
        )
    words = NOTES.get(kind, "")
    said = event.get("content") or event.get("text") or event.get("note")
    if not words:
        return None
    return Notice(
        event["seq"], event["ts"], f"{words}: {said}" if isinstance(said, str) and said else words
    )


def _agent_turn(event: Wire) -> Turn | None:
    said = paragraphs(event.get("content"))
    thoughts = tuple(str(part.get("text") or "") for part in event.get("thinking") or ())
    thoughts = tuple(text for text in thoughts if text.strip())
    after = STOP_WORDS.get(str(event.get("stop_reason") or ""), "")
    if not (said or thoughts or after):
        return None
    return Turn(event["seq"], "agent", "Agent", event["ts"], said, thoughts, after)


def _orphans(events: Sequence[Wire]) -> set[str]:
    """Return the calls whose message is on an older page: they stand where first heard of."""
    proposed = {call["id"] for event in events for call in event.get("tool_calls") or ()}
    return {str(event["call_id"]) for event in events if event.get("call_id")} - proposed


def present_transcript(
    events: Sequence[Wire],
    *,
    gates: Mapping[str, GateCard],
    names: Mapping[str, str],
    active_run: str = "",
    older_before: int | None = None,
    is_newest: bool = True,
) -> Transcript:
    """Return the transcript of a stretch of events.

    Args:
        events: As on the wire, oldest first.
        gates: By call id; only those whose evidence is at hand.
        names: Who started each run, by run id.
        active_run: The run that is going, or "".
    """
    calls, orphans = _collect_calls(events), _orphans(events)
    items: list[Item | None] = []

    def row(call_id: str, run_id: str | None) -> CallRow:
        return present_call(
            calls[call_id], gates.get(call_id), run_is_active=run_id == active_run != ""
        )

    for event in events:
        run_id = event.get("run_id")
        if event["kind"] == EventKind.USER_MESSAGE:
            who = str(event.get("by") or names.get(run_id or "") or "User")
            said = paragraphs(event.get("content"))
            items.append(Turn(event["seq"], "you", who, event["ts"], said))
        elif event["kind"] == EventKind.ASSISTANT_MESSAGE:
            items.append(_agent_turn(event))
            items.extend(row(call["id"], run_id) for call in event.get("tool_calls") or ())
        elif str(event.get("call_id") or "") in orphans:
            orphans.discard(str(event["call_id"]))
            items.append(row(str(event["call_id"]), run_id))
        elif event["kind"] != EventKind.CALL_STARTED:
            items.append(_notice(event))
    items.extend(_unplaced(gates, calls))
    return Transcript(tuple(item for item in items if item is not None), older_before, is_newest)


def _unplaced(gates: Mapping[str, GateCard], calls: Mapping[str, CallParts]) -> list[CallRow]:
    """Return rows for waiting gates whose call no event at hand speaks of: none may be hidden."""
    return [
        present_call(
            CallParts(call_id, gate.tool, {}, gate.asked_ms or 0), gate, run_is_active=True
        )
        for call_id, gate in gates.items()
        if gate.is_waiting and call_id not in calls
    ]
