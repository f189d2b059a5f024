"""The instrument's numbers: only what events and the run's own counters say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.views.present.moments import duration
from agents.views.present.numbers import grouped
from felix_web.common.money import show_usd
from sessions.core.events import EventKind
from sessions.core.states import CallStatus

Wire = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Meter:
    """One line. `value` "" means not known; `is_lower_bound` means at least.

    `place` is "", `sub` (a part of the line above) or `sep` (a rule above it).
    """

    name: str
    value: str
    of: str = ""
    is_lower_bound: bool = False
    place: str = ""


@dataclass(frozen=True, slots=True)
class CallCount:
    """How many calls and model turns the events at hand show for one run."""

    turns: int
    calls: int
    failed: int
    interrupted: int
    denied: int


def count_calls(events: Sequence[Wire], run_id: str) -> CallCount:
    """Return the counts of one run over these events."""
    mine = [event for event in events if event.get("run_id") == run_id]
    answers = [event for event in mine if event["kind"] == EventKind.ASSISTANT_MESSAGE]
    ends = [event.get("status") for event in mine if event["kind"] == EventKind.TOOL_RESULT]
    return CallCount(
        turns=len(answers),
        calls=sum(len(event.get("tool_calls") or ()) for event in answers),
        failed=ends.count(CallStatus.FAILED),
        interrupted=ends.count(CallStatus.INTERRUPTED),
        denied=ends.count(CallStatus.DENIED),
    )


def _of(limits: Wire, name: str) -> str:
    limit = limits.get(name)
    return grouped(limit) if isinstance(limit, int) and limit > 0 else ""


def _call_meters(count: CallCount, limits: Wire, *, is_part: bool) -> list[Meter]:
    meters = [
        Meter("Turns", grouped(count.turns), _of(limits, "recursion_limit"), is_part),
        Meter("Calls", grouped(count.calls), _of(limits, "max_tool_calls"), is_part),
    ]
    parts = (
        ("of which failed", count.failed),
        ("interrupted", count.interrupted),
        ("denied", count.denied),
    )
    return meters + [Meter(name, grouped(number), place="sub") for name, number in parts if number]


def _token_meters(usage: Wire) -> list[Meter]:
    is_bound = not usage.get("certain", True)

    def tokens(name: str) -> str:
        value = usage.get(name)
        return grouped(value) if isinstance(value, int) else ""

    meters = [Meter("Tokens in", tokens("input"), "", is_bound, "sep")]
    if usage.get("cache_read"):
        meters.append(Meter("of which cached", tokens("cache_read"), place="sub"))
    meters.append(Meter("Tokens out", tokens("output"), "", is_bound))
    model_ms = usage.get("model_ms")
    meters.append(
        Meter("Model time", duration(model_ms) if isinstance(model_ms, int) else "", place="sep")
    )
    return meters


def _context_meters(usage: Wire, window: Any) -> list[Meter]:
    """Return how full the model's window was with the newest request, where both are known."""
    used = usage.get("context_tokens")
    if not isinstance(used, int) or not isinstance(window, int):
        return []
    return [Meter("Context", f"{used * 100 // window} %", f"{grouped(window)} tokens")]


def present_meters(
    run: Wire | None, events: Sequence[Wire], *, has_older: bool
) -> tuple[Meter, ...]:
    """Return the meters of a run; none where there is no run yet.

    Args:
        has_older: Events of the run may stand before the ones at hand, so counts are lower bounds.
    """
    if run is None:
        return ()
    usage: Wire = run.get("usage") or {}
    mine = [event for event in events if event.get("run_id") == run["run_id"]]
    is_part = has_older and not any(event["kind"] == EventKind.RUN_STARTED for event in mine)
    micros = usage.get("cost_usd_micros")
    cost = show_usd(micros) if isinstance(micros, int) else ""
    return (
        Meter("Cost", cost, "", bool(cost) and not usage.get("certain", True)),
        *_call_meters(count_calls(events, run["run_id"]), run.get("limits") or {}, is_part=is_part),
        *_token_meters(usage),
        *_context_meters(usage, run.get("context_window")),
    )
