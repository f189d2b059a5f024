"""The script of the demo model: rules that look at what a person wrote, and steps that follow."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import re2

from agents.core.providers.strict_yaml import read_yaml
from felix_web.common.errors import FelixError, InvalidInput

_QUIET = re2.Options()
_QUIET.log_errors = False
_PLACE = re.compile(r"\{([a-z_]+)\}")


class ScriptInvalid(FelixError):
    """The script of the demo model cannot be used as it is written."""

    code: ClassVar[str] = "script_invalid"
    title = "Invalid script"


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A call to propose. `{name}` in a text argument stands for what the rule's pattern matched."""

    tool: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """One answer: reasoning, text, calls. It is passed over where one of its tools is missing."""

    think: str = ""
    say: str = ""
    calls: tuple[ScriptedCall, ...] = ()

    def is_possible(self, tools: Collection[str]) -> bool:
        """Return whether every tool that the step calls is offered."""
        return all(call.tool in tools for call in self.calls)


@dataclass(frozen=True, slots=True)
class ScriptRule:
    """What follows a message that `pattern` is found in.

    Attributes:
        pattern: Of RE2, so that no message can make it slow.
        on_failure: The answer once a call was denied or failed; empty means: go on regardless.
    """

    pattern: Any
    steps: tuple[ScriptStep, ...]
    on_failure: str = ""


@dataclass(frozen=True, slots=True)
class Script:
    """Rules in order; the first that matches and can call at least one of its tools is followed."""

    rules: tuple[ScriptRule, ...]
    otherwise: str

    def rule_for(
        self, text: str, tools: Collection[str]
    ) -> tuple[ScriptRule, dict[str, str]] | None:
        """Return the rule for a person's message and what its pattern matched, or None."""
        for rule in self.rules:
            found = rule.pattern.search(text)
            if found and any(s.calls and s.is_possible(tools) for s in rule.steps):
                return rule, {key: value or "" for key, value in found.groupdict().items()}
        return None


def filled(value: Any, matched: Mapping[str, str]) -> Any:
    """Return the value with every `{name}` that the pattern matched put into its texts."""
    if isinstance(value, str):
        return _PLACE.sub(lambda place: matched.get(place[1], place[0]).strip(), value)
    if isinstance(value, list):
        return [filled(item, matched) for item in value]
    if isinstance(value, dict):
        return {key: filled(item, matched) for key, item in value.items()}
    return value


def _closed(value: Any, where: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ScriptInvalid(f"{where}: must be a mapping")
    unknown = [key for key in value if key not in known]
    if unknown:
        raise ScriptInvalid(f"{where}: unknown key {unknown[0]!r}; known: {', '.join(known)}")
    return value


def _text(body: dict[str, Any], key: str, where: str) -> str:
    value = body.get(key, "")
    if not isinstance(value, str):
        raise ScriptInvalid(f"{where}.{key}: must be a text")
    return value


def _list(body: dict[str, Any], key: str, where: str) -> list[Any]:
    value = body.get(key, [])
    if not isinstance(value, list):
        raise ScriptInvalid(f"{where}.{key}: must be a list")
    return value


def _call(body: Any, where: str) -> ScriptedCall:
    body = _closed(body, where, ("tool", "args"))
    tool, args = _text(body, "tool", where), body.get("args", {})
    if not tool or not isinstance(args, dict):
        raise ScriptInvalid(f"{where}: needs a tool, and args that are a mapping")
    return ScriptedCall(tool, args)


def _step(body: Any, where: str) -> ScriptStep:
    body = _closed(body, where, ("think", "say", "calls"))
    calls = enumerate(_list(body, "calls", where))
    step = ScriptStep(
        think=_text(body, "think", where),
        say=_text(body, "say", where),
        calls=tuple(_call(call, f"{where}.calls[{n}]") for n, call in calls),
    )
    if not step.say and not step.calls:
        raise ScriptInvalid(f"{where}: must say something or call a tool")
    return step


def _rule(body: Any, where: str) -> ScriptRule:
    body = _closed(body, where, ("when", "steps", "on_failure"))
    try:
        pattern = re2.compile(_text(body, "when", where), _QUIET)
    except re2.error:
        raise ScriptInvalid(f"{where}.when: not a regular expression") from None
    steps = enumerate(_list(body, "steps", where))
    return ScriptRule(
        pattern=pattern,
        steps=tuple(_step(step, f"{where}.steps[{n}]") for n, step in steps),
        on_failure=_text(body, "on_failure", where),
    )


def read_script(text: str, *, source: str = "script") -> Script:
    """Return the script that a YAML text holds.

    Raises:
        ScriptInvalid: it is not one; the message names the place.
    """
    try:
        body = _closed(read_yaml(text, source=source), source, ("rules", "otherwise"))
    except InvalidInput as error:
        raise ScriptInvalid(error.message) from None
    rules = enumerate(_list(body, "rules", source))
    otherwise = _text(body, "otherwise", source)
    if not otherwise:
        raise ScriptInvalid(f"{source}.otherwise: must say something")
    return Script(tuple(_rule(rule, f"rules[{n}]") for n, rule in rules), otherwise)
