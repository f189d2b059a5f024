"""Logging: one line per event, safe to read in a terminal and to feed to a collector.

The message of a record of ours is the event's name (`run_interrupted`); ids and figures are `extra`
fields, never part of the message. Every string is redacted and its hidden characters are shown,
whoever logged it.
"""

from __future__ import annotations

import json
import logging
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from types import MappingProxyType
from typing import Any
from uuid import UUID

from felix_web.common.redaction import MASK, is_secret_name, redact
from felix_web.common.visible_text import make_visible, one_line

LONGEST_VALUE = 4_000
LONGEST_TRACEBACK = 24_000
DEEPEST_VALUE = 4
MOST_ITEMS = 50

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

_RECORD_ATTRIBUTES = frozenset(logging.makeLogRecord({}).__dict__) | {
    "message",
    "asctime",
    "taskName",
}
# Fields that a person at a terminal does not need: the objects behind Django's and Celery's own
# records.
_FOREIGN_OBJECTS = frozenset({"request", "server_time", "data", "sinfo"})
_ids: ContextVar[Mapping[str, str]] = ContextVar("felix_log_ids", default=MappingProxyType({}))


@contextmanager
def bind_request(**ids: str | None) -> Iterator[None]:
    """Every record logged inside carries these ids of a request or a run; None leaves one out.

    Blocks nest: the inner one adds to the outer one, and the outer ids are back when it ends.
    """
    given = {name: value for name, value in ids.items() if value is not None}
    token = _ids.set({**_ids.get(), **given})
    try:
        yield
    finally:
        _ids.reset(token)


def current_ids() -> dict[str, str]:
    """Return the ids that a record logged now would carry."""
    return dict(_ids.get())


class JsonLines(logging.Formatter):
    """Formats a record as one line of ASCII JSON, the event's name first."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one JSON object without a line break."""
        line: dict[str, Json] = {
            "event": _text(_message(record), LONGEST_VALUE),
            "at": _moment(record).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        for name, value in _fields(record).items():
            line.setdefault(name, value)
        traceback = _traceback(self, record)
        if traceback:
            line["traceback"] = traceback
        return json.dumps(line)


class Readable(logging.Formatter):
    """Formats a record for a person: time (UTC), level, event, fields, traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line; each line of a traceback follows behind a gutter."""
        at = f"{_moment(record):%H:%M:%S}.{int(record.msecs):03d}Z"
        event = one_line(redact(_message(record)), LONGEST_VALUE)
        fields = [f"{name}={_inline(value)}" for name, value in _fields(record).items()]
        head = " ".join([at, f"{record.levelname:<7}", event, *fields])
        traceback = _traceback(self, record)
        return "\n".join([head, *(f"    | {line}" for line in traceback.splitlines())])


def logging_settings(*, level: str = "INFO", log_format: str = "auto") -> dict[str, Any]:
    """Return Django's `LOGGING`: everything goes to stderr, in one format.

    Args:
        level: Least level of Felix's own records; libraries are heard from WARNING on.
        log_format: `json`, `text`, or `auto`: text where stderr is a terminal, JSON lines
            elsewhere.
    """
    is_text = log_format == "text" or (log_format == "auto" and sys.stderr.isatty())
    formatter = Readable if is_text else JsonLines
    ours = ("felix_web", "agents", "approvals", "sessions", "sandboxes")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"felix": {"()": formatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "felix"}},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            **{name: {"level": level} for name in ours},
            # Django sets up handlers of its own for these two; without them each record would come
            # twice.
            "django": {"handlers": [], "level": "WARNING", "propagate": True},
            "django.server": {"handlers": [], "level": "WARNING", "propagate": True},
        },
    }


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        # A library's format and arguments do not fit; its bare format is better than a lost record.
        return str(record.msg)


def _moment(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _fields(record: logging.LogRecord) -> dict[str, Json]:
    extra = {
        name: value
        for name, value in record.__dict__.items()
        if name not in _RECORD_ATTRIBUTES and name not in _FOREIGN_OBJECTS
    }
    return {_text(name, 100): _safe(name, value) for name, value in {**_ids.get(), **extra}.items()}


def _safe(name: str, value: object, depth: int = 0) -> Json:
    """Return the value as JSON without secrets; any other object is named, not asked its text."""
    if is_secret_name(name):
        return MASK
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Enum():
            return _safe(name, value.value, depth)
        case str():
            return _text(value, LONGEST_VALUE)
        case datetime() | Decimal() | UUID() | PurePath():
            return _text(str(value), LONGEST_VALUE)
        case BaseException():
            return _text(f"{type(value).__name__}: {value}", LONGEST_VALUE)
        case Mapping() if depth < DEEPEST_VALUE:
            items = list(value.items())[:MOST_ITEMS]
            return {_text(str(key), 100): _safe(str(key), item, depth + 1) for key, item in items}
        case list() | tuple() | set() | frozenset() if depth < DEEPEST_VALUE:
            return [_safe("", item, depth + 1) for item in list(value)[:MOST_ITEMS]]
        case _:
            return f"<{type(value).__name__}>"


def _text(value: str, limit: int) -> str:
    redacted = redact(value)
    if len(redacted) > limit:
        redacted = f"{redacted[:limit]}… ({len(redacted) - limit} more characters)"
    return make_visible(redacted)


def _inline(value: Json) -> str:
    """Return a field of the readable format, quoted where it could be taken for two."""
    if isinstance(value, str):
        line = one_line(value, LONGEST_VALUE)
        return line if line and not set(line) & set(' ="') else json.dumps(line, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    if record.exc_info and record.exc_info[0] is not None:
        text = redact(formatter.formatException(record.exc_info))
    else:
        text = redact(record.exc_text or "")
    if len(text) > LONGEST_TRACEBACK:
        half = LONGEST_TRACEBACK // 2
        text = f"{text[:half]}\n… ({len(text) - 2 * half} characters left out) …\n{text[-half:]}"
    return make_visible(text)
