"""One answer of a model, taken once.

Streamed to readers while it comes, an event for the log when it is whole.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import Any

from agents.core.ports import Clock, TextSink
from agents.core.prompt import Prompt
from agents.core.providers.base import (
    AssistantTurn,
    Completed,
    ModelRequest,
    Provider,
    ProviderError,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolSpec,
    Usage,
)
from agents.core.providers.profiles import ModelProfile, Price
from agents.core.providers.retry import Retrying, stream_with_retries
from agents.core.store import Metered
from agents.core.view import RunView
from felix_web.common.faults import reach
from felix_web.common.ids import new_id
from felix_web.common.money import cost_micros
from sessions.core.events import EventKind, NewEvent
from sessions.core.states import StopReason


@dataclass(frozen=True, slots=True)
class Model:
    """The model of a run: its adapter, and the profile that prices, bounds and retries it."""

    provider: Provider
    profile: ModelProfile
    tools: tuple[ToolSpec, ...]
    temperature: float | None
    max_tokens: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, ready to be committed."""

    event: NewEvent
    metered: Metered


def price_of(usage: Usage, price: Price | None) -> int | None:
    """Return the cost in micro-dollars, or None without a price or certain usage."""
    if price is None or not usage.certain:
        return None
    return (
        cost_micros(usage.input, price.input)
        + cost_micros(usage.output, price.output)
        + cost_micros(usage.cache_read, price.cache_read)
        + cost_micros(usage.cache_write, price.cache_write)
    )


async def ask(
    model: Model,
    prompt: Prompt,
    view: RunView,
    *,
    known_call_ids: set[str],
    deadline_seconds: float,
    sink: TextSink,
    clock: Clock,
) -> Answer:
    """Return the model's next answer.

    Where tokens may have been used that no answer reports, because an attempt failed or was cut
    off, the view says so, and the answer's usage is uncertain.

    Args:
        known_call_ids: Ids of the branch's calls so far; an id that repeats is minted anew.
        deadline_seconds: What is left of the run's working time.

    Raises:
        ProviderError: every attempt failed, or one failed after text was shown.
    """
    began = clock.monotonic()
    message_id = f"msg_{view.facts.run_id[4:]}_{view.answers}"
    request = _request(model, prompt, view, deadline_seconds)
    sink.begin(message_id)
    try:
        completed = await _stream(model, request, message_id, view, sink)
    except (ProviderError, asyncio.CancelledError) as error:
        view.is_usage_lost |= not isinstance(error, ProviderError) or error.is_usage_lost
        raise
    finally:
        sink.end(message_id)
    took_ms = int((clock.monotonic() - began) * 1000)
    turn = _with_own_ids(completed.turn, known_call_ids)
    return Answer(
        event=_event(turn, completed.stop_reason, message_id, model.profile.name),
        metered=_metered(model, completed.usage, prompt.prefix_digest(), took_ms, view),
    )


def _request(model: Model, prompt: Prompt, view: RunView, deadline_seconds: float) -> ModelRequest:
    return ModelRequest(
        messages=prompt.messages(),
        tools=model.tools,
        temperature=model.temperature,
        max_tokens=model.max_tokens,
        deadline_seconds=deadline_seconds,
        cache_key=view.facts.cache_key,
    )


async def _stream(
    model: Model, request: ModelRequest, message_id: str, view: RunView, sink: TextSink
) -> Completed:
    answer = stream_with_retries(model.provider, request, model.profile.retry)
    async with aclosing(answer) as items:
        async for item in items:
            match item:
                case TextDelta(text):
                    sink.text(message_id, text)
                    reach("mid_stream")
                case ThinkingDelta(text):
                    sink.thinking(message_id, text)
                case Retrying():
                    view.is_usage_lost = view.is_usage_lost or item.is_usage_lost
                    sink.begin(message_id)
                case Completed():
                    return item
    raise ProviderError(
        "The model's answer ended before it was whole.", retryable=True, is_usage_lost=True
    )


def _with_own_ids(turn: AssistantTurn, known: set[str]) -> AssistantTurn:
    """Return the turn with each call under an id that is new to the branch."""
    calls = []
    for call in turn.calls:
        call_id = call.call_id
        if not call_id or len(call_id) > 256 or call_id in known:
            call_id = new_id("call")
        known.add(call_id)
        calls.append(ToolCall(call_id, call.name, call.args, call.args_error))
    return AssistantTurn(turn.content, turn.thinking, tuple(calls))


def _event(turn: AssistantTurn, stop_reason: StopReason, message_id: str, model: str) -> NewEvent:
    payload: dict[str, Any] = {
        "content": turn.content,
        "tool_calls": [_call_json(call) for call in turn.calls],
        "stop_reason": StopReason.TOOL_USE if turn.calls else stop_reason,
        "model": model,
    }
    if turn.thinking:
        payload["thinking"] = [{"text": block.text} for block in turn.thinking]
    sealed = [
        {key: value for key, value in asdict(block).items() if key != "text"}
        for block in turn.thinking
    ]
    return NewEvent(
        kind=EventKind.ASSISTANT_MESSAGE,
        payload=payload,
        message_id=message_id,
        sealed={"thinking": sealed}
        if any(row["signature"] or row["data"] for row in sealed)
        else None,
    )


def _call_json(call: ToolCall) -> dict[str, Any]:
    row: dict[str, Any] = {"id": call.call_id, "name": call.name, "args": call.args}
    if call.args_error:
        row["args_error"] = call.args_error
    return row


def _metered(
    model: Model, usage: Usage, prefix_digest: str, took_ms: int, view: RunView
) -> Metered:
    """Return what the answer cost; where usage was lost, that is a part of it and marked so."""
    return Metered(
        model=model.profile.name,
        request_class="turn",
        prefix_digest=prefix_digest,
        usage=replace(usage, certain=usage.certain and not view.is_usage_lost),
        cost_usd_micros=price_of(usage, model.profile.price),
        took_ms=took_ms,
    )
