"""Text as it may be stored: what a model writes is not always what UTF-8 and PostgreSQL accept."""

from __future__ import annotations

import re
from typing import Any

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def _join_pair(match: re.Match[str]) -> str:
    high, low = ord(match[1]), ord(match[2])
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def clean_text(text: str) -> str:
    """Return the text with surrogate pairs joined and every lone surrogate and U+0000 as U+FFFD."""
    if not _UNSTORABLE.search(text):
        return text
    return _UNSTORABLE.sub(REPLACEMENT, _PAIR.sub(_join_pair, text))


def clean_json(value: Any) -> Any:
    """Return the JSON value with `clean_text` applied to every string in it, keys included."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean_json(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_json(item) for key, item in value.items()}
    return value


class TextJoiner:
    """Cleans a text that arrives in pieces.

    A high surrogate at the end of a piece is held back: some servers escape an emoji as two halves
    and send them in two deltas.
    """

    def __init__(self) -> None:
        self._held = ""
        self._pieces: list[str] = []

    def feed(self, piece: str) -> str:
        """Return what of the text can be shown now."""
        piece, self._held = self._held + piece, ""
        if piece and "\ud800" <= piece[-1] <= "\udbff":
            piece, self._held = piece[:-1], piece[-1]
        shown = clean_text(piece)
        self._pieces.append(shown)
        return shown

    def finish(self) -> str:
        """Return what was still held back: a replacement character, or nothing."""
        held, self._held = self._held, ""
        shown = clean_text(held)
        self._pieces.append(shown)
        return shown

    @property
    def text(self) -> str:
        """Everything shown so far."""
        return "".join(self._pieces)
