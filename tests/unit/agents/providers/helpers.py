"""Short ways to ask a model and to look at what came back."""

from typing import Any

from agents.core.providers.base import (
    AssistantTurn,
    Completed,
    ModelRequest,
    Provider,
    ProviderError,
    StreamItem,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolSpec,
    ToolTurn,
    UserTurn,
)
from agents.core.providers.profiles import ModelProfile, ProviderProfile

LOOK = ToolSpec("look", "Look at a thing.", {"type": "object", "properties": {}})


def profile(base_url: str, **provider: Any) -> ModelProfile:
    return ModelProfile("m", ProviderProfile("fake", base_url, **provider), "fake-1")


def ask(model: Provider, text: str = "hello", **fields: Any) -> ModelRequest:
    return ModelRequest(model.render(UserTurn(text)), **fields)


def after(model: Provider, request: ModelRequest, answer: AssistantTurn) -> ModelRequest:
    """Return the request that follows once every call of the answer has its result."""
    messages = [*request.messages, *model.render(answer)]
    for call in answer.calls:
        messages += model.render(ToolTurn(call.call_id, call.name, "ok"))
    return ModelRequest(messages, request.tools)


async def items(model: Provider, request: ModelRequest) -> list[StreamItem]:
    return [item async for item in model.stream(request)]


async def completed(model: Provider, request: ModelRequest) -> Completed:
    last = (await items(model, request))[-1]
    assert isinstance(last, Completed)
    return last


async def failure(model: Provider, request: ModelRequest) -> ProviderError:
    try:
        await items(model, request)
    except ProviderError as error:
        return error
    raise AssertionError("the model answered")


def shown_text(found: list[Any]) -> str:
    return "".join(item.text for item in found if isinstance(item, TextDelta))


def shown_thinking(found: list[Any]) -> str:
    return "".join(item.text for item in found if isinstance(item, ThinkingDelta))


def look(call_id: str, **args: Any) -> ToolCall:
    return ToolCall(call_id, "look", args)
