"""The demo model: it follows a script, needs no key, and says so in every answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from math import ceil
from pathlib import Path
from typing import Any

from agents.core.providers import messages
from agents.core.providers.base import (
    AssistantTurn,
    Completed,
    ModelRequest,
    StreamItem,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolCall,
    Turn,
    Usage,
)
from agents.core.providers.script import Script, ScriptedCall, ScriptStep, filled, read_script
from felix_web.common.digests import canonical_json
from felix_web.common.ids import new_id
from sessions.core.states import StopReason

MARK = "[scripted demo]"
DEMO_SCRIPT = Path(__file__).parents[2] / "bundled" / "scripts" / "demo.yaml"
DELTA_SECONDS = 0.015
CHARACTERS_PER_TOKEN = 4
MAX_QUOTED_CHARACTERS = 400

_PIECES = re.compile(r"\s*\S+|\s+")
# How a call that was denied, or failed, or was cut off, begins in the model's eyes.
_FAILURE = re.compile(r"\[(?:error|denied|interrupted|cancelled)\b")


def _since_user(request: ModelRequest) -> tuple[str, list[dict[str, Any]]]:
    """Return the last thing a person said, and the messages that came after it."""
    after: list[dict[str, Any]] = []
    for message in reversed(request.messages):
        if message.get("role") == "user":
            return str(message.get("content") or ""), after[::-1]
        after.append(message)
    return "", after[::-1]


def next_answer(script: Script, request: ModelRequest) -> ScriptStep:
    """Return what the script says to this request. Pure: it keeps no memory between requests."""
    tools = {tool.name for tool in request.tools}
    text, after = _since_user(request)
    found = script.rule_for(text, tools)
    if found is None:
        return ScriptStep(say=script.otherwise)
    rule, matched = found
    results = [str(m.get("content") or "") for m in after if m.get("role") == "tool"]
    matched["last_result"] = results[-1][:MAX_QUOTED_CHARACTERS] if results else ""
    if rule.on_failure and any(_FAILURE.match(result) for result in results):
        return _filled(ScriptStep(say=rule.on_failure), matched)
    steps = [step for step in rule.steps if step.is_possible(tools)]
    answered = sum(1 for message in after if message.get("role") == "assistant")
    following = steps[answered] if answered < len(steps) else ScriptStep(say=script.otherwise)
    return _filled(following, matched)


def _filled(step: ScriptStep, matched: dict[str, str]) -> ScriptStep:
    calls = tuple(ScriptedCall(c.tool, filled(dict(c.args), matched)) for c in step.calls)
    return ScriptStep(step.think, filled(step.say, matched), calls)


def _estimated(request: ModelRequest, answer: str) -> Usage:
    prompt = len(canonical_json(request.messages))
    tokens = [ceil(characters / CHARACTERS_PER_TOKEN) for characters in (prompt, len(answer))]
    return Usage(input=tokens[0], output=tokens[1], certain=False)


class Scripted:
    """A `Provider` that follows a script.

    Args:
        script: What it follows.
        sleep: Waits between two deltas; a test passes its own.
    """

    is_scripted = True
    origin = "scripted"

    def __init__(
        self, script: Script, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._script = script
        self._sleep = sleep

    def render(self, turn: Turn) -> list[dict[str, Any]]:
        """See `Provider.render`."""
        return messages.render_turn(turn, origin=self.origin)

    def render_system(self, text: str) -> list[dict[str, Any]]:
        """See `Provider.render_system`."""
        return messages.render_system(text)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        """See `Provider.stream`. It never fails."""
        step = next_answer(self._script, request)
        text = f"{MARK} {step.say}".strip()
        for piece in _PIECES.findall(step.think):
            await self._sleep(DELTA_SECONDS)
            yield ThinkingDelta(piece)
        for piece in _PIECES.findall(text):
            await self._sleep(DELTA_SECONDS)
            yield TextDelta(piece)
        calls = tuple(ToolCall(new_id("call"), c.tool, dict(c.args)) for c in step.calls)
        thinking = (Thinking(step.think, origin=self.origin),) if step.think else ()
        turn = AssistantTurn(text, thinking, calls)
        reason = StopReason.TOOL_USE if calls else StopReason.END_TURN
        yield Completed(turn, reason, _estimated(request, text))


def demo_model() -> Scripted:
    """Return the bundled demo model."""
    return Scripted(read_script(DEMO_SCRIPT.read_text("utf-8"), source=DEMO_SCRIPT.name))
