"""What a run has come to: the view that `next_step` looks at, grown event by event (L2, L15)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agents.core.limits import Limits
from approvals.core.gate import GateStatus, GateView
from sessions.core.calls import Call
from sessions.core.events import Event, EventKind, NewEvent
from sessions.core.states import CallStatus, RunMode, StopReason

EXECUTED = frozenset({CallStatus.DONE, CallStatus.FAILED, CallStatus.INTERRUPTED})


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What does not change while a run is driven.

    `active_ms` is the time driven in earlier claims; `principal` is what a bound approval is bound
    to.
    """

    run_id: str
    tenant_id: int
    tenant_slug: str
    thread: str
    thread_pk: int
    branch: int
    fence: int
    manifest: str
    manifest_version: int
    mode: RunMode
    is_attended: bool
    principal: str
    limits: Limits
    active_ms: int = 0
    cache_key: str = ""


@dataclass(frozen=True, slots=True)
class Begun:
    """What a call was when it started, as the log tells: its definition, its arguments, and whether
    the tool was declared safe to repeat.
    """

    tool_digest: str
    args_digest: str
    is_replay_safe: bool


@dataclass(slots=True)
class RunView:
    """The state of one run, as its branch tells it. Only `apply` and `take_gates` change it.

    `is_usage_lost` alone is no part of the log: in this claim a model may have used tokens that no
    answer reports, and the next commit says so.

    `open_calls` are the calls of the newest message that have no result, in the model's order.
    `started` are those of them whose start is in the log. `answers` and `executed` count this run's
    model answers and calls.
    """

    facts: RunFacts
    read_only_tools: frozenset[str]
    open_calls: dict[str, Call] = field(default_factory=dict)
    started: dict[str, Begun] = field(default_factory=dict)
    gates: dict[str, GateView] = field(default_factory=dict)
    answers: int = 0
    executed: int = 0
    stop_reason: StopReason | None = None
    final_text: str = ""
    is_usage_lost: bool = False

    def apply(self, event: Event) -> None:
        """The view includes the event. Events of earlier runs of the branch leave it as it is."""
        if event.run_id != self.facts.run_id:
            return
        match event.kind:
            case EventKind.ASSISTANT_MESSAGE:
                self._take_answer(event)
            case EventKind.CALL_STARTED:
                self.started[event.call_id] = _begun(event.payload)
            case EventKind.TOOL_RESULT:
                self._take_result(event)
            case _:
                pass

    def _take_answer(self, event: Event) -> None:
        self.answers += 1
        self.stop_reason = StopReason(event.payload.get("stop_reason", StopReason.UNKNOWN))
        self.final_text = event.payload.get("content", "")
        self.open_calls = {call.call_id: call for call in calls_of(event)}
        self.started.clear()

    def _take_result(self, event: Event) -> None:
        self.open_calls.pop(event.call_id, None)
        if CallStatus(event.payload["status"]) in EXECUTED:
            self.executed += 1

    def take_gates(self, gates: Iterable[GateView]) -> None:
        """Each call's newest gate is known; `gates` comes oldest first."""
        self.gates = {gate.call_id: gate for gate in gates}

    def waits(self, call: Call) -> bool:
        """Return whether a gate of the call is waiting."""
        gate = self.gates.get(call.call_id)
        return gate is not None and gate.status is GateStatus.WAITING

    def asks_again(self, call: Call) -> bool:
        """Return whether the call's newest gate was withdrawn, so that a person is asked anew."""
        gate = self.gates.get(call.call_id)
        return gate is not None and gate.status is GateStatus.WITHDRAWN

    def is_free(self, call: Call) -> bool:
        """Return whether the call changes nothing and nobody was asked about it."""
        return call.tool in self.read_only_tools and call.call_id not in self.gates


def _begun(payload: Mapping[str, object]) -> Begun:
    return Begun(
        tool_digest=str(payload.get("tool_digest", "")),
        args_digest=str(payload.get("args_digest", "")),
        is_replay_safe=payload.get("replay_safe") is True,
    )


def calls_of(event: Event | NewEvent) -> tuple[Call, ...]:
    """Return the calls an assistant message proposed, in the model's order."""
    return tuple(_call(event.message_id, row) for row in event.payload.get("tool_calls", ()))


def _call(message_id: str, row: Mapping[str, object]) -> Call:
    args = row["args"]
    return Call(
        call_id=str(row["id"]),
        tool=str(row["name"]),
        args=args if isinstance(args, dict) else {},
        message_id=message_id,
        args_error=str(row.get("args_error", "")),
    )
