"""What the fake answers without a script; the lines are described in tests/fakes/provider.py."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.fakes.steps import ScriptedToolCall, Step, ThinkingBlock, step_from_json

_WORDS = ("call", "say", "think", "with", "then")


def text_of(content: Any) -> str:
    """Return the text of a message's content."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def last_user_text(messages: list[dict[str, Any]]) -> str:
    """Return what the user said last; empty where nobody did."""
    said = (text_of(m.get("content")) for m in reversed(messages) if m.get("role") == "user")
    return next(said, "")


def _since_user(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    after: list[dict[str, Any]] = []
    for message in reversed(messages):
        if message.get("role") == "user":
            break
        after.append(message)
    return after


def _commands(text: str) -> list[tuple[str, str]]:
    lines = (line.strip().partition(" ") for line in text.splitlines())
    return [(word, rest.strip()) for word, _, rest in lines if word in _WORDS]


def _with_line(step: Step, word: str, rest: str) -> Step:
    if word == "call":
        tool, _, arguments = rest.partition(" ")
        made = ScriptedToolCall(tool, arguments.strip() or "{}")
        return replace(step, calls=(*step.calls, made))
    if word == "think":
        return replace(step, thinking=(*step.thinking, ThinkingBlock(rest)))
    if word == "say":
        return replace(step, text=f"{step.text} {rest}".strip())
    set_fields = json.loads(rest)
    further = step_from_json(set_fields)
    return replace(step, **{name: getattr(further, name) for name in set_fields})


def _planned(text: str) -> list[Step]:
    steps = [Step()]
    for word, rest in _commands(text):
        if word == "then":
            steps.append(Step())
        else:
            steps[-1] = _with_line(steps[-1], word, rest)
    return [step for step in steps if step != Step()]


def next_step(messages: list[dict[str, Any]]) -> Step:
    """Return the answer to these messages. It follows from them alone."""
    text, after = last_user_text(messages), _since_user(messages)
    planned = _planned(text)
    if not planned:
        return Step(text=f"You said: {text}")
    answered = sum(1 for message in after if message.get("role") == "assistant")
    results = sum(1 for message in after if message.get("role") == "tool")
    done = Step(text=f"done: {results} results")
    step = planned[answered] if answered < len(planned) else done
    return step if step.calls or step.text else replace(step, text=done.text)
