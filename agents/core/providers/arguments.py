"""The arguments of a call, as a model wrote them: a JSON object, or the reason why not."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from agents.core.providers.clean import clean_json, clean_text


class Arguments(NamedTuple):
    """A JSON object; or an empty one and what is wrong with the text."""

    value: dict[str, Any]
    error: str = ""


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError("a number that JSON cannot hold")
    return value


def _no_constant(name: str) -> float:
    raise ValueError(f"{name}, which JSON does not have")


def parse_arguments(text: str, *, is_cut: bool = False) -> Arguments:
    """Return the arguments; a blank text is an empty object, the way many servers write one.

    Raw control characters inside a string are taken as they are meant.

    Args:
        text: Every fragment, in order.
        is_cut: The answer was cut short, so that a blank text says nothing about the arguments.
    """
    if not text.strip():
        return Arguments({}, "The arguments were cut off.") if is_cut else Arguments({})
    try:
        value = json.loads(
            clean_text(text), strict=False, parse_float=_finite, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        return Arguments({}, f"The arguments are not JSON: {error.msg} at {where}.")
    except (ValueError, RecursionError):
        return Arguments({}, "The arguments are not JSON that can be kept.")
    if not isinstance(value, dict):
        return Arguments({}, "The arguments must be a JSON object.")
    return Arguments(clean_json(value))
