"""Judges a request as the strictest provider would; every finding says what is wrong and where."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.fakes.issued import Issued

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ROLES = ("system", "user", "assistant", "tool")
_BODY_KEYS = {
    "max_tokens",
    "messages",
    "model",
    "parallel_tool_calls",
    "prompt_cache_key",
    "seed",
    "stop",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_p",
    "user",
}
_MESSAGE_KEYS = {
    "system": {"role", "content"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "tool_calls", "reasoning_details", "name"},
    "tool": {"role", "content", "tool_call_id"},
}


def judge(body: Any, *, issued: Issued, account: str) -> list[str]:
    """Return everything that is wrong with the request; nothing for a sound one."""
    if not isinstance(body, dict):
        return ["the body must be a JSON object"]
    findings = [*_judge_body(body), *_judge_tools(body)]
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return [*findings, "messages: must be a list and not empty"]
    return [*findings, *_Transcript(messages, issued, account).findings()]


def _judge_body(body: dict[str, Any]) -> Iterator[str]:
    yield from (f"{key}: unrecognized argument" for key in sorted(set(body) - _BODY_KEYS))
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model: must be a text and not empty"
    if "stream_options" in body and body.get("stream") is not True:
        yield "stream_options: only allowed when stream is true"
    limit = body.get("max_tokens", 1)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        yield "max_tokens: must be a whole number above 0"
    warmth = body.get("temperature", 1)
    if isinstance(warmth, bool) or not isinstance(warmth, int | float) or not 0 <= warmth <= 2:
        yield "temperature: must be a number from 0 to 2"


def _judge_tools(body: dict[str, Any]) -> Iterator[str]:
    tools = body.get("tools", [{}])
    if not isinstance(tools, list) or not tools:
        yield "tools: must be a list and not empty"
        return
    names: set[str] = set()
    for number, tool in enumerate(tools if "tools" in body else ()):
        where = f"tools[{number}]"
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or tool.get("type") != "function":
            yield f"{where}: must be of type function"
            continue
        yield from _judge_function(function, where)
        name = str(function.get("name"))
        if name in names:
            yield f"{where}: the name {name!r} a second time"
        names.add(name)


def _judge_function(function: dict[str, Any], where: str) -> Iterator[str]:
    if not _NAME.fullmatch(str(function.get("name") or "")):
        yield f"{where}.name: not a tool name"
    if not isinstance(function.get("description", ""), str):
        yield f"{where}.description: must be a text"
    parameters = function.get("parameters")
    if not isinstance(parameters, dict) or parameters.get("type") != "object":
        yield f"{where}.parameters: must be a JSON Schema of type object"


class _Transcript:
    """Walks the messages once. `open` are the calls that still need a result, in order."""

    def __init__(self, messages: list[Any], issued: Issued, account: str) -> None:
        self._messages = messages
        self._issued = issued
        self._account = account
        self._open: list[str] = []
        self._ids: set[str] = set()

    def findings(self) -> list[str]:
        found: list[str] = []
        before = ""
        for number, message in enumerate(self._messages):
            where = f"messages[{number}]"
            role = message.get("role") if isinstance(message, dict) else None
            if role not in _ROLES:
                return [*found, f"{where}.role: must be one of {', '.join(_ROLES)}"]
            found += [f"{where}: {problem}" for problem in self._message(message, role, before)]
            before = role
        if self._open:
            found.append(f"the calls {', '.join(self._open)} have no result")
        if before not in ("user", "tool"):
            found.append("the last message must be of role user or tool")
        return found

    def _message(self, message: dict[str, Any], role: str, before: str) -> Iterator[str]:
        unknown = sorted(set(message) - _MESSAGE_KEYS[role])
        yield from (f"unknown key {key!r}" for key in unknown)
        if role == "system" and before:
            yield "a system message may only come first"
        if role != "tool" and self._open:
            yield f"the calls {', '.join(self._open)} must have their results first"
            self._open = []
        if role == "assistant":
            yield from self._assistant(message, before)
            return
        content = message.get("content")
        if not isinstance(content, str) or not content.strip():
            yield "content: must be a text and not empty"
        if role == "tool":
            yield from self._result(message.get("tool_call_id"))

    def _assistant(self, message: dict[str, Any], before: str) -> Iterator[str]:
        if before not in ("user", "tool"):
            yield "an assistant message must follow one of role user or tool"
        content, calls = message.get("content"), message.get("tool_calls")
        if content is not None and (not isinstance(content, str) or not content.strip()):
            yield "content: must be null, or a text and not empty"
        if content is None and not calls:
            yield "an assistant message must have content or tool calls"
        if "tool_calls" in message and (not isinstance(calls, list) or not calls):
            yield "tool_calls: must be a list and not empty"
            return
        problems = [p for n, c in enumerate(calls or ()) for p in self._call(c, f"tool_calls[{n}]")]
        yield from problems
        if not problems:
            yield from self._reasoning(message)

    def _call(self, call: Any, where: str) -> Iterator[str]:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or call.get("type") != "function":
            yield f"{where}: must be of type function"
            return
        call_id = call.get("id")
        if not isinstance(call_id, str) or not call_id:
            yield f"{where}.id: must be a text and not empty"
        elif call_id in self._ids:
            yield f"{where}.id: {call_id!r} a second time"
        else:
            self._ids.add(call_id)
            self._open.append(call_id)
        if not _NAME.fullmatch(str(function.get("name") or "")):
            yield f"{where}.function.name: not a tool name"
        if not _is_object_text(function.get("arguments")):
            yield f"{where}.function.arguments: must be the text of a JSON object"

    def _result(self, call_id: Any) -> Iterator[str]:
        if self._open and call_id == self._open[0]:
            self._open.pop(0)
        elif call_id in self._open:
            self._open.remove(call_id)
            yield f"the result of {call_id!r} comes before that of an earlier call"
        elif call_id in self._ids:
            yield f"a second result of the call {call_id!r}, or one that comes too late"
        else:
            yield f"a result of the call {call_id!r}, which nobody made"

    def _reasoning(self, message: dict[str, Any]) -> Iterator[str]:
        details = message.get("reasoning_details", [])
        if "reasoning_details" in message and not details:
            yield "reasoning_details: must not be empty"
        if details not in self._issued.expected(self._account, message):
            yield "reasoning_details: not the signed blocks that this message was issued with"


def _is_object_text(arguments: Any) -> bool:
    try:
        return isinstance(arguments, str) and isinstance(json.loads(arguments), dict)
    except ValueError:
        return False
