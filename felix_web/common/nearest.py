"""The known name that a mistyped one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

CUTOFF = 0.6
LONGEST_WORD = 200


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name most like the word, or None where nothing is close.

    Letter case is ignored; the answer is spelled as it is known. A word of more than 200 characters
    is nobody's slip of the keyboard and has no nearest name: comparing is quadratic in length.
    """
    if len(word) > LONGEST_WORD:
        return None
    spelled = {name.casefold(): name for name in known}
    found = get_close_matches(word.casefold(), spelled, n=1, cutoff=CUTOFF)
    return spelled[found[0]] if found else None
