"""What a plain word in a manifest means: what JSON says it means, and otherwise text.

YAML 1.1 reads `no` as false, `010` as eight, `1:30` as ninety and `2026-01-01` as a date. None of
that is what an author means in a manifest, so plain words are numbers, `true`, `false` and null
only where JSON agrees.
"""

from __future__ import annotations

import math
import re

from agents.core.manifest.document import Scalar

MAX_WHOLE_NUMBER = 2**53 - 1

_WORDS: dict[str, Scalar] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?(?:\.(?:inf|Inf|INF)|Infinity)|\.(?:nan|NaN|NAN)|NaN")
_UNPRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


class BadScalar(ValueError):
    """The word cannot stand in a manifest; the text says why."""

    code = "bad_scalar"


def unprintable(text: str) -> int | None:
    """Return the index of the first character that text may not hold, or None.

    Control characters other than tab and line ends, lone surrogates, U+FEFF and non-characters are
    refused: they are invisible to a reviewer, and PostgreSQL cannot store some of them.
    """
    found = _UNPRINTABLE.search(text)
    return None if found is None else found.start()


def meaning(word: str, *, is_plain: bool) -> Scalar:
    """Return the value of a scalar.

    Args:
        is_plain: It was written without quotes; a quoted or block scalar is always text.

    Raises:
        BadScalar: an infinity, NaN, a number beyond 2^53, or text with a character that cannot be
            shown.
    """
    if unprintable(word) is not None:
        raise BadScalar("this text holds a control character or another one that cannot be shown")
    if not is_plain:
        return word
    if word in _WORDS:
        return _WORDS[word]
    if _NOT_FINITE.fullmatch(word):
        raise BadScalar("infinity and NaN are not numbers here; put quotes around it to mean text")
    return _number(word) if _DECIMAL.fullmatch(word) else word


def _number(word: str) -> int | float:
    if _WHOLE.fullmatch(word):
        # The length is looked at first: int() of a very long numeral is slow, and then fails.
        if len(word) > 17 or abs(int(word)) > MAX_WHOLE_NUMBER:
            raise BadScalar("this number is too large; put quotes around it to mean text")
        return int(word)
    value = float(word)
    if not math.isfinite(value):
        raise BadScalar("this number is too large; put quotes around it to mean text")
    return value
