"""How tall text stands on the card: a long line is many rows, however few lines it has."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from felix_web.common.visible_text import TAB_COLUMNS, make_visible

COLUMNS = 100


class Cut(NamedTuple):
    """A text in two, none of it lost; only a newline that stood between the two is in neither."""

    head: str
    tail: str


def _width(character: str) -> int:
    if character == "\t":
        return TAB_COLUMNS
    if unicodedata.east_asian_width(character) in ("W", "F"):
        return 2
    return len(make_visible(character))


def _is_plain(line: str) -> bool:
    return line.isascii() and line.isprintable()


def _line_rows(line: str) -> int:
    columns = len(line) if _is_plain(line) else sum(map(_width, line))
    return max(1, -(-columns // COLUMNS))


def row_count(text: str) -> int:
    """Return how many rows of `COLUMNS` columns the text takes at most; none where it is empty.

    A character that hides is counted with the width of the mark that is shown in its place.
    """
    return sum(map(_line_rows, text.split("\n"))) if text else 0


def _cut_line(line: str, room: int) -> int:
    """Return how many characters of the line fit into so many rows."""
    left = room * COLUMNS
    if _is_plain(line):
        return left
    for place, width in enumerate(map(_width, line)):
        left -= width
        if left < 0:
            return place
    return len(line)


def cut_rows(text: str, room: int) -> Cut:
    """Return the text cut after its first rows, inside a line where that line is too long."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        height = _line_rows(line)
        if height > room:
            before, after = lines[:number], lines[number + 1 :]
            if room <= 0:
                return Cut("\n".join(before), "\n".join([line, *after]))
            end = _cut_line(line, room)
            return Cut("\n".join([*before, line[:end]]), "\n".join([line[end:], *after]))
        room -= height
    return Cut(text, "")
