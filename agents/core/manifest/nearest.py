"""Which known word a misspelt one most likely means."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MAX_COMPARED = 64


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word closest to this one, or None where none is close.

    A word of more than 64 characters is close to nothing: comparing is quadratic in its length.
    """
    if len(word) > MAX_COMPARED:
        return None
    by_folded = {_folded(name): name for name in sorted(known)}
    found = get_close_matches(_folded(word), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def hint(word: str, known: Iterable[str]) -> str:
    """Return ` (did you mean NAME?)`, or an empty text where nothing is close."""
    name = nearest(word, known)
    return f" (did you mean {name}?)" if name else ""


def _folded(word: str) -> str:
    return word.replace("_", "").replace("-", "").lower()
