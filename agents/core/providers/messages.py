"""Turns as chat completions messages. The same turn gives the same bytes, so a prefix stays one."""

from __future__ import annotations

import json
from typing import Any

from agents.core.providers.base import (
    AssistantTurn,
    Thinking,
    ToolCall,
    ToolSpec,
    ToolTurn,
    Turn,
    UserTurn,
)
from agents.core.providers.clean import clean_json, clean_text
from felix_web.common.digests import canonical_json

ENCRYPTED = "reasoning.encrypted"
SUMMARY = "reasoning.summary"
NO_OUTPUT = "(no output)"

Message = dict[str, Any]


def render_system(text: str) -> list[Message]:
    """Return the system message; nothing for a blank prompt."""
    return [{"role": "system", "content": clean_text(text)}] if text.strip() else []


def render_turn(turn: Turn, *, origin: str) -> list[Message]:
    """Return the messages of one turn: one, or none where it would be empty.

    Args:
        turn: What was said, or came back.
        origin: Who will read it. Reasoning that is unsigned or of another origin is left out (L12).
    """
    if isinstance(turn, UserTurn):
        return (
            [{"role": "user", "content": clean_text(turn.content)}] if turn.content.strip() else []
        )
    if isinstance(turn, ToolTurn):
        # A blank result is refused by some servers, and a call without a result by all.
        content = clean_text(turn.content) if turn.content.strip() else NO_OUTPUT
        return [{"role": "tool", "tool_call_id": turn.call_id, "content": content}]
    return _assistant(turn, origin)


def _assistant(turn: AssistantTurn, origin: str) -> list[Message]:
    has_text = bool(turn.content.strip())
    if not has_text and not turn.calls:
        return []
    message: Message = {
        "role": "assistant",
        "content": clean_text(turn.content) if has_text else None,
    }
    blocks = [_block(b) for b in turn.thinking if b.signature and b.origin == origin]
    if blocks:
        message["reasoning_details"] = blocks
    if turn.calls:
        message["tool_calls"] = [_call(call) for call in turn.calls]
    return [message]


def _block(block: Thinking) -> Message:
    data: Message = dict(block.data or {})
    if data.get("type") == ENCRYPTED:
        data["data"] = block.signature
    else:
        data["signature"] = block.signature
        data["summary" if data.get("type") == SUMMARY else "text"] = block.text
    # The database does not keep the order of keys; a prefix must not depend on it.
    ordered: Message = json.loads(canonical_json(data))
    return ordered


def _call(call: ToolCall) -> Message:
    arguments = canonical_json(clean_json(call.args))
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.call_id, "type": "function", "function": function}


def render_tool(tool: ToolSpec) -> Message:
    """Return the declaration of one tool."""
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}


def call_ids(messages: list[Message]) -> set[str]:
    """Return the ids of every call in rendered messages."""
    calls = (call for message in messages for call in message.get("tool_calls") or ())
    return {str(call["id"]) for call in calls}
