"""The loop's one decision (L2): what a run does next is a function of what is stored."""

from __future__ import annotations

from dataclasses import dataclass

from agents.core.view import RunView
from sessions.core.calls import Call
from sessions.core.states import RunStatus, StopReason


@dataclass(frozen=True, slots=True)
class CallModel:
    """Ask the model."""


@dataclass(frozen=True, slots=True)
class RunCalls:
    """Put these calls, in the model's order, through the controls, and run what they let pass."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """A gate waits and nothing else can be done: park."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The run is over. `reason` is empty for a run that is simply done."""

    status: RunStatus
    stop_reason: StopReason
    reason: str = ""
    message: str = ""


Step = CallModel | RunCalls | Wait | Finish


def next_step(view: RunView, *, active_ms: int) -> Step:
    """Return what the run does next. Pure.

    It looks at the view and the time the run has been driven, in ms.
    """
    limits = view.facts.limits
    if view.answers and not view.open_calls and view.stop_reason is not StopReason.TOOL_USE:
        return _end(view)
    if active_ms >= limits.max_wall_clock_seconds * 1000:
        text = f"The run used its {limits.max_wall_clock_seconds} s of working time."
        return Finish(RunStatus.FAILED, StopReason.LIMIT, "max_wall_clock", text)
    if view.open_calls:
        return _calls_step(view)
    if view.answers >= limits.recursion_limit:
        text = f"The run used its {limits.recursion_limit} model turns and had not finished."
        return Finish(RunStatus.FAILED, StopReason.MAX_TURNS, "max_turns", text)
    return CallModel()


def _end(view: RunView) -> Finish:
    return Finish(RunStatus.DONE, view.stop_reason or StopReason.UNKNOWN)


def _calls_step(view: RunView) -> Step:
    """While a gate of the message waits, only what changes nothing goes on (decisions 3.2, 3.3).

    A call whose gate was withdrawn is asked about again beside it.
    """
    calls = tuple(view.open_calls.values())
    if not any(view.waits(call) for call in calls):
        return RunCalls(calls)
    free = tuple(call for call in calls if view.asks_again(call) or view.is_free(call))
    return RunCalls(free) if free else Wait()
