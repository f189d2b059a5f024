"""Bodies as they come in: JSON without its loopholes."""

from __future__ import annotations

import json
import math
import re
from typing import Any, ClassVar, NoReturn

from django.http import HttpRequest
from ninja.parser import Parser

from felix_web.common.errors import InvalidInput, NotFound

UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


class MalformedJson(InvalidInput):
    """The body is not one JSON document in UTF-8."""

    code: ClassVar[str] = "malformed_json"
    title = "Malformed JSON"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON.")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("An object names a member twice.")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("A number is too large.")
    return number


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:  # Python's bound on digits; its words are for programmers
        raise ValueError("A number is too large.") from None


def _check_texts(value: Any) -> None:
    """No text holds U+0000 or half a surrogate pair: databases refuse them, and nobody means
    them.
    """
    match value:
        case str():
            if UNSTORABLE.search(value):
                raise InvalidInput("A text holds U+0000 or a lone surrogate, which is not stored.")
        case dict():
            for key, item in value.items():
                _check_texts(key)
                _check_texts(item)
        case list():
            for item in value:
                _check_texts(item)


def storable(text: str, missing: type[NotFound]) -> str:
    """Return an id from an address.

    Raises:
        NotFound: the error named, for text that no database could hold: it is nobody's id.
    """
    if UNSTORABLE.search(text):
        raise missing()
    return text


def read_json(body: bytes) -> Any:
    """Return the document of a body.

    Raises:
        MalformedJson: it is not UTF-8, not JSON, too deep, or has NaN, an infinity or a member
        twice.
        InvalidInput: a text in it cannot be stored.
    """
    try:
        text = body.decode("utf-8")
        value = json.loads(
            text,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_whole,
            object_pairs_hook=_without_twins,
        )
        if "\\u" in text:
            _check_texts(value)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise MalformedJson(f"The body is not valid JSON: {where}: {error.msg}.") from None
    except UnicodeDecodeError:
        raise MalformedJson("The body is not UTF-8.") from None
    except RecursionError:
        raise MalformedJson("The body is nested too deeply.") from None
    except ValueError as error:
        raise MalformedJson(f"The body is not valid JSON: {error}") from None
    return value


class JsonParser(Parser):
    """Ninja's reader of bodies, by `read_json`."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Return the document; see `read_json`."""
        return read_json(request.body)
