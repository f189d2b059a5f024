"""Regular expressions whose time is linear in the text, whatever the pattern (RE2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import re2

MAX_MEMORY_BYTES = 8 << 20


class Span(NamedTuple):
    """Where a match is, in characters."""

    start: int
    end: int


class BadPattern(Exception):
    """The pattern is no regular expression of RE2. The message says why."""

    code = "bad_pattern"


class LinearRegex:
    """A compiled pattern.

    RE2 has no look-around and no back-references: it is what makes it linear.

    Raises:
        BadPattern: it is not one of RE2's, or too large when compiled.
    """

    def __init__(self, pattern: str, *, ignore_case: bool = False, dot_all: bool = False) -> None:
        options = re2.Options()
        options.case_sensitive = not ignore_case
        options.dot_nl = dot_all
        options.max_mem = MAX_MEMORY_BYTES
        options.log_errors = False
        try:
            compiled = re2.compile(pattern, options)
        except re2.error as error:
            raise BadPattern(_reason(error)) from None
        self._search: Callable[[str], object] = compiled.search
        self._fullmatch: Callable[[str], object] = compiled.fullmatch

    def search(self, text: str) -> Span | None:
        """Return the first match in a text without lone surrogates."""
        match = self._search(text)
        return None if match is None else Span(*match.span())  # type: ignore[attr-defined]

    def matches(self, text: str) -> bool:
        """True where the whole text matches."""
        return self._fullmatch(text) is not None


def quote(text: str) -> str:
    """Return the pattern that matches exactly this text."""
    quoted: str = re2.escape(text)
    return quoted


def _reason(error: Exception) -> str:
    raw = error.args[0] if error.args else ""
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
