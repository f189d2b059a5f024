"""Which part of a changed line changed: what a removed and an added line share stays quiet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from typing import NamedTuple

WORD = re.compile(r"\w+|\W")


class Parts(NamedTuple):
    """A line in three: what both sides share, what only this one has, what they share again."""

    before: str
    changed: str
    after: str


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    pairs = zip(left, right, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def compare(removed: str, added: str) -> tuple[Parts, Parts]:
    """Return both lines with the words between their common ends as what changed."""
    left, right = WORD.findall(removed), WORD.findall(added)
    head = _shared(left, right)
    tail = _shared(left[head:][::-1], right[head:][::-1])

    def parts(words: list[str]) -> Parts:
        end = len(words) - tail
        return Parts("".join(words[:head]), "".join(words[head:end]), "".join(words[end:]))

    return parts(left), parts(right)


def mark_changes(lines: Sequence[tuple[str, str]]) -> Iterator[Parts]:
    """Yield each (kind, text) line's parts: of a change, n-th removed and n-th added are compared.

    A line without a partner has changed whole; one that stays has not changed at all. Where
    everything is added, as in a new file, nothing stands out.
    """
    if {kind for kind, _ in lines} <= {"add"}:
        yield from (Parts(text, "", "") for _, text in lines)
        return
    runs = [(kind, [text for _, text in run]) for kind, run in groupby(lines, lambda line: line[0])]
    for place, (kind, texts) in enumerate(runs):
        before = runs[place - 1] if place else ("", [])
        after = runs[place + 1] if place + 1 < len(runs) else ("", [])
        for number, text in enumerate(texts):
            if kind == "cut" and after[0] == "add" and number < len(after[1]):
                yield compare(text, after[1][number])[0]
            elif kind == "add" and before[0] == "cut" and number < len(before[1]):
                yield compare(before[1][number], text)[1]
            elif kind in ("cut", "add"):
                yield Parts("", text, "")
            else:
                yield Parts(text, "", "")
