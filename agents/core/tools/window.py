"""The part of an output that a model sees, and the most of it that is ever stored."""

from __future__ import annotations

import unicodedata

from agents.core.tools.text import clean

DEFAULT_LIMIT = 2000
MAX_STORED_CHARS = 8_000_000
# A cut is moved at most this far to keep a character whole: text of marks alone has no such place.
MAX_SHIFT = 32
JOINER = "\u200d"


def storable(text: str) -> str:
    """Return the output as it is stored: clean Unicode, and cut (saying so) where it is endless."""
    total = len(text)
    if total > MAX_STORED_CHARS:
        return (
            clean(text[:MAX_STORED_CHARS])
            + f"\n[... cut here: {total:,} characters, {MAX_STORED_CHARS:,} are kept]"
        )
    return clean(text)


def window(text: str, *, limit: int = DEFAULT_LIMIT, output_id: str) -> str:
    """Return the text whole, or its first 80 % and last 20 % of `limit` with a notice between.

    Lengths are in code points. A cut never falls inside a character that is written with several
    (a letter and its accents, an emoji sequence, CR LF): there a side gives up a few code points.
    A text that the notice would make longer is returned whole.

    Args:
        limit: How many characters of the text are shown at most.
        output_id: What `read_output` takes to page through the whole of it.

    Raises:
        ValueError: the limit is not positive.
    """
    if limit < 1:
        raise ValueError("the limit of a window must be positive")
    text = clean(text)
    if len(text) <= limit:
        return text
    head = limit * 4 // 5
    end = _back(text, head)
    start = _forward(text, len(text) - (limit - head))
    notice = (
        f"\n[... {len(text):,} characters in all, {start - end:,} left out here;"
        f' read_output id="{output_id}" offset={end} shows them ...]\n'
    )
    shortened = text[:end] + notice + text[start:]
    return shortened if len(shortened) < len(text) else text


def _back(text: str, cut: int) -> int:
    for place in range(cut, max(0, cut - MAX_SHIFT) - 1, -1):
        if not _is_inside(text, place):
            return place
    return cut


def _forward(text: str, cut: int) -> int:
    for place in range(cut, min(len(text), cut + MAX_SHIFT) + 1):
        if not _is_inside(text, place):
            return place
    return cut


def _is_inside(text: str, place: int) -> bool:
    """True where the code points on both sides of a place make one character."""
    if place <= 0 or place >= len(text):
        return False
    before, after = text[place - 1], text[place]
    if before == JOINER or after == JOINER or (before, after) == ("\r", "\n"):
        return True
    return unicodedata.category(after).startswith("M") or "\U0001f3fb" <= after <= "\U0001f3ff"
