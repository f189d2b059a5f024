"""Answers as bytes: the stream of chunks, the whole completion, and the error object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.fakes.steps import Answer, Step

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def compact(value: Any) -> bytes:
    """Return the JSON of a value, in raw UTF-8 so that a split may fall inside a character."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def error_body(status: int, message: str, *, code: str = "", kind: str = "") -> bytes:
    """Return an error in the provider's shape."""
    kind = kind or _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return compact(
        {"error": {"message": message, "type": kind, "param": None, "code": code or None}}
    )


def usage_of(step: Step, prompt_characters: int) -> dict[str, Any]:
    """Return the usage report of an answer: the step's own, or one counted from the lengths."""
    if step.usage is not None:
        return step.usage
    said = len(step.text) + sum(len(c.name) + len(c.arguments) for c in step.calls)
    prompt, completion = -(-prompt_characters // 4), -(-said // 4)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def _pieces(value: str, size: int) -> list[str]:
    if not size or not value:
        return [value]
    return [value[start : start + size] for start in range(0, len(value), size)]


def _thinking_deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    for entry in answer.details:
        shared = {key: entry[key] for key in ("type", "index", "format")}
        for piece in _pieces(entry["text"], answer.step.piece) if "text" in entry else ():
            yield {"reasoning": piece, "reasoning_details": [{**shared, "text": piece}]}
        hidden = {key: entry[key] for key in ("id", "data", "signature") if key in entry}
        if hidden:
            yield {"reasoning_details": [{**shared, **hidden}]}


def _call_deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    step = answer.step
    for number, (made, call_id) in enumerate(zip(step.calls, answer.call_ids, strict=True)):
        index = 0 if step.zero_index else number
        names = _pieces(made.name, step.piece) if step.split_names else [made.name]
        for position, name in enumerate(names):
            function = {"name": name, "arguments": ""}
            fragment: dict[str, Any] = {"index": index, "type": "function", "function": function}
            if position == 0 or step.repeat_ids:
                fragment["id"] = call_id
            yield {"tool_calls": [fragment]}
        for piece in _pieces(made.arguments, step.piece):
            function = {"arguments": piece}
            fragment = {"index": index, "function": function}
            if step.repeat_ids:
                fragment["id"] = call_id
                function["name"] = made.name
            yield {"tool_calls": [fragment]}


def _deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    step = answer.step
    yield {"role": "assistant", "content": ""}
    yield from _thinking_deltas(answer)
    if step.reasoning:
        yield from ({"reasoning_content": piece} for piece in _pieces(step.reasoning, step.piece))
    if step.text:
        yield from ({"content": piece} for piece in _pieces(step.text, step.piece))
    yield from _call_deltas(answer)


def stream_bytes(answer: Answer, *, model: str, usage: dict[str, Any] | None) -> bytes:
    """Return the whole body of a streamed answer. `usage` None leaves the report out."""
    step = answer.step
    head = {"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1, "model": model}

    def event(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    events = [] if step.empty else [event(delta) for delta in _deltas(answer)]
    if step.in_stream_error is not None:
        events.append({"error": step.in_stream_error})
    elif step.finish_reason is not None:
        events.append(event({}, step.finish_reason))
        if usage is not None:
            events.append({**head, "choices": [], "usage": usage})
    return b"".join(b"data: " + compact(e) + b"\n\n" for e in events) + b"data: [DONE]\n\n"


def completion_bytes(answer: Answer, *, model: str, usage: dict[str, Any] | None) -> bytes:
    """Return the body of an answer that is not streamed."""
    step = answer.step
    message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
    if answer.details:
        message["reasoning_details"] = answer.details
    if step.calls:
        message["tool_calls"] = [
            {
                "id": call_id,
                "type": "function",
                "function": {"name": made.name, "arguments": made.arguments},
            }
            for made, call_id in zip(step.calls, answer.call_ids, strict=True)
        ]
    choice = {"index": 0, "message": message, "finish_reason": step.finish_reason}
    head = {"id": "chatcmpl-fake", "object": "chat.completion", "created": 1, "model": model}
    return compact({**head, "choices": [choice], **({"usage": usage} if usage else {})})
