"""From a model's raw arguments to an outcome: the one place where a tool is called."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from agents.core.tools.base import Evidence, Outcome, Tool, ToolArgs, ToolContext, ToolFailed
from agents.core.tools.registry import nearest_name
from agents.core.tools.text import has_lone_surrogate

MAX_TRIES = 3
_JSON_TYPES = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}

logger = logging.getLogger(__name__)


class Presented(NamedTuple):
    """What a reviewer is shown of a call, and the digest of the state that it was computed from."""

    evidence: Evidence | None
    preimage: str | None


def validate(tool: Tool, raw_args: object) -> ToolArgs:
    """Return the arguments as the tool takes them.

    Args:
        raw_args: What the model sent, decoded from JSON.

    Raises:
        ToolFailed: `invalid_arguments`; the message names each bad argument, the type of what was
            sent and what is expected, never the value.
    """
    if not isinstance(raw_args, dict):
        raise _invalid([f"got {_json_type(raw_args)}, expected an object of arguments"])
    bad = [str(name) for name, value in raw_args.items() if _is_unclean([name, value])]
    if bad:
        raise _invalid([f"{_name(name)}: holds U+0000 or a lone surrogate" for name in bad])
    try:
        return tool.args.model_validate(raw_args)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False)
        raise _invalid([_complaint(tool, detail) for detail in details]) from None


def present(tool: Tool, args: ToolArgs, ctx: ToolContext) -> Presented:
    """Return the evidence of a call and its pre-image, both of one state of the world.

    Raises:
        ToolFailed: the call cannot be done as it is; no person needs to be asked. Or
            `evidence_changed`: the target changes too often to be looked at.
        Exception: the evidence cannot be computed; the caller must deny.
    """
    if tool.preimage is None:
        return Presented(tool.evidence(args, ctx) if tool.evidence else None, None)
    for _ in range(MAX_TRIES):
        before = tool.preimage(args, ctx)
        evidence = tool.evidence(args, ctx) if tool.evidence else None
        if tool.preimage(args, ctx) == before:
            return Presented(evidence, before)
    raise ToolFailed("evidence_changed", "The target keeps changing while it is looked at.")


def execute(tool: Tool, args: ToolArgs, ctx: ToolContext) -> Outcome:
    """Return what came of the call; it is made once, and no exception of a tool escapes."""
    try:
        ctx.check()
        outcome = tool.run(args, ctx)
    except ToolFailed as failed:
        return Outcome.failed(failed.code, failed.message)
    except Exception as error:  # noqa: BLE001 - the one broad catch around a tool call
        # The type only: a message or a traceback may hold arguments, and with them secrets.
        logger.error(
            "tool_failed tool=%s call_id=%s error=%s", tool.name, ctx.call_id, type(error).__name__
        )
        return Outcome.failed("internal", "The tool failed; its effect is not known.")
    return outcome if isinstance(outcome, Outcome) else Outcome(outcome)


def _invalid(complaints: list[str]) -> ToolFailed:
    return ToolFailed("invalid_arguments", "; ".join(complaints) + ".")


def _complaint(tool: Tool, detail: ErrorDetails) -> str:
    place = ".".join(str(part) for part in detail["loc"])
    properties: dict[str, Any] = tool.spec.parameters.get("properties", {})
    expected = _expected(properties.get(place, {}))
    match detail["type"]:
        case "extra_forbidden":
            near = nearest_name(place, properties)
            hint = f", did you mean {near}?" if near else f", known are {', '.join(properties)}"
            return f"{_name(place)}: unknown argument{hint}"
        case "missing":
            return f"{place}: missing" + (f", expected {expected}" if expected else "")
        case "value_error":
            return f"{place}: {detail['msg'].removeprefix('Value error, ')}"
    return (
        f"{_name(place)}: got {_described(detail['input'])}, expected {expected or detail['msg']}"
    )


def _expected(schema: dict[str, Any]) -> str:
    """Return in words what a simple property takes; empty where the schema is not simple."""
    kind = schema.get("type")
    if not isinstance(kind, str):
        return ""
    unit = " characters" if kind == "string" else ""
    least = schema.get("minimum", schema.get("minLength"))
    most = schema.get("maximum", schema.get("maxLength"))
    if least is None and most is None:
        return kind
    if most is None:
        return f"{kind} of at least {least}{unit}"
    return f"{kind} of {least or 0} to {most}{unit}"


def _described(value: object) -> str:
    kind = _json_type(value)
    if isinstance(value, str):
        return f"{kind} of {len(value)} characters"
    if isinstance(value, int) and kind == "integer" and value.bit_length() < 64:
        return f"{kind} {value}"
    return kind


def _json_type(value: object) -> str:
    return _JSON_TYPES.get(type(value), "something that is not JSON")


def _name(name: str) -> str:
    """Return an argument's name fit for a message, whatever the model made of it."""
    return name[:60] if name[:60].isprintable() else "an argument"


def _is_unclean(value: object) -> bool:
    if isinstance(value, str):
        return "\0" in value or has_lone_surrogate(value)
    if isinstance(value, dict):
        return any(_is_unclean(item) for pair in value.items() for item in pair)
    return isinstance(value, list) and any(_is_unclean(item) for item in value)
