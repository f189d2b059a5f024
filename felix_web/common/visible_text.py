"""The one sanitiser: text of models, tools and strangers, with everything that hides made visible.

Web, terminal, mail and logs show the same marks. What is shown as a mark: control characters other
than tab and newline, bidirectional controls, everything that draws nothing (zero-width and tag
characters, variation selectors, fillers, soft hyphens), lone surrogates and noncharacters, and
padding that pushes text out of sight.

A literal `<ESC>` in the text reads like a mark in plain output; HTML tells them apart by the class
of the mark, plain output by saying how many marks there are (`count_marks`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

PADDING_COLUMNS = 64
PADDING_LINES = 20
TAB_COLUMNS = 8
ELLIPSIS = "…"
# More than this of one text is never looked at for a single line: a row is short, whatever hides
# behind it.
LINE_SOURCE_CHARACTERS = 8192

_CONTROL_NAMES = (
    *("NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL"),
    *("BS", "TAB", "LF", "VT", "FF", "CR", "SO", "SI"),
    *("DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB"),
    *("CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US"),
)
_NAMES = {chr(code): f"<{name}>" for code, name in enumerate(_CONTROL_NAMES)} | {
    "\x7f": "<DEL>",
    "\u2028": "<LS>",
    "\u2029": "<PS>",
}

# Code points of Unicode's property Default_Ignorable_Code_Point, the controls, line and paragraph
# separator, BRAILLE PATTERN BLANK, the interlinear annotation marks, surrogates and noncharacters
# of the first plane. Source: Unicode 15.0, DerivedCoreProperties.txt and chapter 23.
_HIDDEN = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ud800-\\udfff\\ufdd0-\\ufdef\\ufe00-\\ufe0f"
    "\\ufeff\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a"
    "\\U000e0000-\\U000e0fff"
)
_BLANK = " \\t\\n\\xa0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000"
_SUSPECT = re.compile(f"([{_HIDDEN}])\\1*|[{_BLANK}]{{12,}}")
_LINE_SUSPECT = re.compile(f"([{_HIDDEN}\\t\\n])\\1*|[{_BLANK}]{{12,}}")
_PIECES = re.compile(r"\n|[^\n]+")


class Segment(NamedTuple):
    """A stretch of text as it is shown. `is_mark` says that it stands for something that hides."""

    text: str
    is_mark: bool


def segments(text: str) -> Sequence[Segment]:
    """Return the text as plain stretches and marks, in order; joined they are `make_visible(text)`.

    A character repeated in a row is one mark, with the number: `<U+200B x40>`.
    """
    if _SUSPECT.search(text) is None:
        return (Segment(text, False),) if text else ()
    return tuple(_split(text, _SUSPECT))


def make_visible(text: str) -> str:
    """Return the text with marks in place of what hides; clean text is the same object."""
    if _SUSPECT.search(text) is None:
        return text
    return "".join(part.text for part in _split(text, _SUSPECT))


def count_marks(text: str) -> int:
    """Return how many marks `segments` and `make_visible` show for the text."""
    return sum(part.is_mark for part in segments(text))


def one_line(text: str, limit: int) -> str:
    """Return the text as one visible line of at most `limit` characters, cut at its end.

    Newlines and tabs become the marks `<LF>` and `<TAB>`. A mark is never cut in two.

    Raises:
        ValueError: the limit is below 1.
    """
    units, was_cut = _units(text, limit)
    shown, used = _fitting(units, limit)
    if used == len(units) and not was_cut:
        return shown
    return _fitting(units, limit - 1)[0] + ELLIPSIS


def cut_middle(text: str, limit: int) -> str:
    """Return the text as one visible line of at most `limit` characters, both ends kept.

    For ids and paths, whose ends tell them apart.

    Raises:
        ValueError: the limit is below 1.
    """
    units, was_cut = _units(text, limit)
    shown, used = _fitting(units, limit)
    if used == len(units) and not was_cut:
        return shown
    tail_units = _units(text[-LINE_SOURCE_CHARACTERS:], limit)[0]
    tail = _fitting([unit[::-1] for unit in reversed(tail_units)], (limit - 1) // 2)[0][::-1]
    head = _fitting(units, limit - 1 - len(tail))[0]
    return head + ELLIPSIS + tail


def _units(text: str, limit: int) -> tuple[list[str], bool]:
    """Return the marks and characters of the start, and whether there is more text behind."""
    if limit < 1:
        raise ValueError("a line has room for at least one character")
    units: list[str] = []
    for part in _split(text[:LINE_SOURCE_CHARACTERS], _LINE_SUSPECT):
        units.extend([part.text] if part.is_mark else part.text)
    return units, len(text) > LINE_SOURCE_CHARACTERS


def _fitting(units: Sequence[str], limit: int) -> tuple[str, int]:
    room, used = limit, 0
    while used < len(units) and len(units[used]) <= room:
        room -= len(units[used])
        used += 1
    return "".join(units[:used]), used


def _split(text: str, suspect: re.Pattern[str]) -> Iterator[Segment]:
    """Yield plain stretches joined up and marks one by one."""
    plain: list[str] = []
    for part in _raw_parts(text, suspect):
        if not part.is_mark:
            plain.append(part.text)
            continue
        if plain:
            yield Segment("".join(plain), False)
            plain.clear()
        yield part
    if plain:
        yield Segment("".join(plain), False)


def _raw_parts(text: str, suspect: re.Pattern[str]) -> Iterator[Segment]:
    end = 0
    for match in suspect.finditer(text):
        if match.start() > end:
            yield Segment(text[end : match.start()], False)
        if match[1] is not None:
            yield Segment(_name(match[1], len(match[0])), True)
        else:
            yield from _blanks(match[0], one_line=suspect is _LINE_SUSPECT)
        end = match.end()
    if end < len(text):
        yield Segment(text[end:], False)


def _name(character: str, times: int) -> str:
    name = _NAMES.get(character) or f"<U+{ord(character):04X}>"
    return name if times == 1 else f"{name[:-1]} x{times}>"


def _blanks(run: str, *, one_line: bool) -> Iterator[Segment]:
    """Yield a run of blanks, with marks where it is long enough to push text out of sight."""
    lines = run.count("\n")
    if lines >= PADDING_LINES and not one_line:
        yield from _padding(run[: run.index("\n")], one_line=False)
        yield Segment("\n", False)
        yield Segment(f"<{lines - 1} blank lines>", True)
        yield Segment("\n", False)
        run = run[run.rindex("\n") + 1 :]
    for piece in _PIECES.findall(run):
        yield from _padding(piece, one_line=one_line)


def _padding(piece: str, *, one_line: bool) -> Iterator[Segment]:
    columns = len(piece) + piece.count("\t") * (TAB_COLUMNS - 1)
    if columns >= PADDING_COLUMNS:
        yield Segment(f"<{columns} columns of blanks>", True)
    elif one_line:
        for character in piece:
            yield (
                Segment(_NAMES[character], True)
                if character in "\t\n"
                else Segment(character, False)
            )
    elif piece:
        yield Segment(piece, False)
