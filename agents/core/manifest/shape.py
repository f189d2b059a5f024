"""Checks a document against the schema and says every difference in words an author can act on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agents.core.manifest.document import Document
from agents.core.manifest.nearest import hint
from agents.core.manifest.problems import MAX_PROBLEMS, Path, Problem, dotted, shown
from agents.core.manifest.schema import Manifest
from agents.core.manifest.unsupported import FIELDS, is_unsupported_value

NOT_SUPPORTED = "is not supported by this build"


def shape_of(document: Document) -> tuple[Manifest | None, list[Problem]]:
    """Return the manifest, or None and what is wrong with its shape.

    All that is wrong is found; what goes beyond the number that is shown keeps its place, without a
    worked-out text.
    """
    try:
        return Manifest.model_validate(document.data), []
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=True)
    found = [_placed(document, detail) for detail in details]
    found.sort(key=lambda pair: (pair[0].line, pair[0].column))
    # Looking for the nearest key is the dear part: a file of 10,000 wrong keys gets 50 suggestions.
    for index, (problem, detail) in enumerate(found[:MAX_PROBLEMS]):
        message = _message(problem.path, detail)
        found[index] = (Problem(problem.path, problem.line, problem.column, message), detail)
    return None, [problem for problem, _ in found]


def _placed(document: Document, detail: ErrorDetails) -> tuple[Problem, ErrorDetails]:
    path: Path = detail["loc"]
    is_unknown = detail["type"] == "extra_forbidden"
    return document.problem(path, detail["msg"], at_key=is_unknown), detail


def _message(path: Path, detail: ErrorDetails) -> str:
    if detail["type"] == "extra_forbidden":
        return _unknown_key(path)
    where, last = _object_name(path), path[-1] if path else ""
    if detail["type"] == "missing":
        return f"{dotted(path)} is missing"
    if isinstance(detail["input"], str) and is_unsupported_value(where, detail["input"]):
        return f"{last} {shown(detail['input'])} {NOT_SUPPORTED}; it has {_allowed(detail)}"
    return f"{dotted(path) or 'the manifest'} {_wanted(detail)}"


def _unknown_key(path: Path) -> str:
    key, parent = str(path[-1]), path[:-1]
    where = _object_name(parent)
    place = dotted(parent) or "a manifest"
    if key in FIELDS.get(where, ()):
        return f"{dotted(path)} {NOT_SUPPORTED}"
    return f"{place} has no field {shown(key)}{hint(key, _known_keys(parent))}"


def _object_name(path: Path) -> str:
    return ".".join(part for part in path if isinstance(part, str))


def _known_keys(path: Path) -> list[str]:
    """Return the keys that the object at the path may have, those not supported included."""
    model: type[BaseModel] = Manifest
    for part in path:
        if isinstance(part, str):
            model = _model_of(model, part)
    keys = [field.alias or name for name, field in model.model_fields.items()]
    return keys + sorted(FIELDS.get(_object_name(path), ()))


def _model_of(model: type[BaseModel], key: str) -> type[BaseModel]:
    """Return the class of the objects under a key: the field's, its list's or its option's."""
    waiting: list[Any] = [
        field.annotation
        for name, field in model.model_fields.items()
        if (field.alias or name) == key
    ]
    while waiting:
        annotation = waiting.pop()
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return annotation
        waiting.extend(get_args(annotation))
    raise LookupError(key)


def _allowed(detail: ErrorDetails) -> str:
    return str(detail.get("ctx", {}).get("expected", "")).replace("'", "")


def _got(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {shown(value)}"
        case dict():
            return "an object"
        case _:
            return "a list"


def _type_wanted(name: str) -> Callable[[ErrorDetails], str]:
    return lambda detail: f"must be {name}, not {_got(detail['input'])}"


def _text_wanted(detail: ErrorDetails) -> str:
    value = detail["input"]
    quotes = "; put quotes around it" if isinstance(value, bool | int | float) else ""
    return f"must be text, not {_got(value)}{quotes}"


def _bound(words: str, key: str) -> Callable[[ErrorDetails], str]:
    def say(detail: ErrorDetails) -> str:
        got = _got(detail["input"])
        return f"must be {words} {detail['ctx'][key]:,}, not {got.removeprefix('the number ')}"

    return say


def _size(words: str, key: str) -> Callable[[ErrorDetails], str]:
    def say(detail: ErrorDetails) -> str:
        count = detail["ctx"][key]
        is_text = detail["type"].startswith("string")
        noun = "character" if is_text else "entry"
        plural = noun if count == 1 else {"character": "characters", "entry": "entries"}[noun]
        return f"must have {words} {count:,} {plural}"

    return say


_NAME_RULE = (
    "may only hold letters, digits, dot, underscore and hyphen, and at least one letter or digit"
)
_PATTERN_RULES = {
    "name": _NAME_RULE,
    "id": "must be one line of text that neither begins nor ends with a space",
    "tools": "may only hold letters, digits, dot, underscore, hyphen, * and ?",
}


def _pattern_wanted(detail: ErrorDetails) -> str:
    names = [part for part in detail["loc"] if isinstance(part, str)]
    return f"{_PATTERN_RULES[names[-1]]}: {shown(detail['input'])}"


_WANTED: dict[str, Callable[[ErrorDetails], str]] = {
    "string_type": _text_wanted,
    "int_type": _type_wanted("a whole number"),
    "float_type": _type_wanted("a number"),
    "bool_type": _type_wanted("true or false"),
    "list_type": _type_wanted("a list"),
    "model_type": _type_wanted("an object"),
    "literal_error": lambda detail: f"must be {_allowed(detail)}, not {_got(detail['input'])}",
    "greater_than_equal": _bound("at least", "ge"),
    "less_than_equal": _bound("at most", "le"),
    "string_too_short": _size("at least", "min_length"),
    "string_too_long": _size("at most", "max_length"),
    "too_short": _size("at least", "min_length"),
    "too_long": _size("at most", "max_length"),
    "string_pattern_mismatch": _pattern_wanted,
}
"""What to say for each kind of error that the schema can raise."""


def _wanted(detail: ErrorDetails) -> str:
    # What no text can cause (a lone surrogate in data that was never read) has no words of its own.
    say = _WANTED.get(detail["type"])
    return say(detail) if say else "is not valid"
