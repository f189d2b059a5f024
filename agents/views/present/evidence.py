"""What a reviewer is shown before the two buttons: a text, a change, or the call's arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.views.present.changed_words import Parts, mark_changes
from agents.views.present.numbers import counted
from agents.views.present.rows import cut_rows, row_count
from felix_web.common.visible_text import count_marks

FOLD_AFTER_ROWS = 60
KINDS = {"+": "add", "-": "cut", " ": "same", "": "same"}
MINUS = "−"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a change: `add`, `cut`, `same`, or `hunk` where lines in between are left out."""

    kind: str
    old: str
    new: str
    parts: Parts


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of the call; `is_rest` where the fold goes through it."""

    name: str
    value: str
    is_rest: bool = False


@dataclass(frozen=True, slots=True)
class Body:
    """A stretch of evidence: arguments, then text, then the lines of a change."""

    arguments: tuple[Argument, ...] = ()
    text: str = ""
    lines: tuple[DiffLine, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True where there is nothing to show."""
        return not (self.arguments or self.text or self.lines)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is shown: `shown` at once, `rest` behind a fold that says how much it hides.

    `folded` counts rows, since a reviewer scrolls past those: a long line is many. `unit` is
    their word, `line` where each line is one row. `marks` says how many characters would hide or
    reorder text; all are shown by their codes.
    """

    title: str
    target: str
    summary: str
    note: str
    marks: str
    shown: Body
    rest: Body
    folded: int
    unit: str
    is_unfolded: bool

    @property
    def is_unseen(self) -> bool:
        """True while a part of it is behind the fold."""
        return self.folded > 0 and not self.is_unfolded

    @property
    def folded_words(self) -> str:
        """The fold's label: `214 more lines`, or `145 more rows` of long ones."""
        return counted(self.folded, f"more {self.unit}")


def _diff_lines(rows: Sequence[Sequence[Any]]) -> tuple[DiffLine, ...]:
    padded = [[*row, None, None, None, None][:4] for row in rows]
    kinds = [KINDS.get(str(sign or ""), "hunk") for sign, *_ in padded]
    texts = ["" if text is None else str(text) for *_, text in padded]
    numbers = [
        ["" if value in (None, 0) else str(value) for value in (old, new)]
        for _, old, new, _ in padded
    ]
    parts = mark_changes(list(zip(kinds, texts, strict=True)))
    return tuple(
        DiffLine(kind, old, new, part)
        for kind, (old, new), part in zip(kinds, numbers, parts, strict=True)
    )


def _arguments(args: Mapping[str, Any]) -> tuple[Argument, ...]:
    def shown(value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)

    return tuple(Argument(str(name), shown(value)) for name, value in args.items())


def _cut_arguments(
    arguments: Sequence[Argument], room: int
) -> tuple[tuple[Argument, ...], tuple[Argument, ...], int]:
    shown, rest = [], []
    for argument in arguments:
        cut = cut_rows(argument.value, room)
        if room > 0:
            shown.append(Argument(argument.name, cut.head))
        if room <= 0 or cut.tail:
            rest.append(Argument(argument.name, cut.tail, is_rest=room > 0))
        room -= _argument_rows(argument)
    return tuple(shown), tuple(rest), room


def _cut_parts(parts: Parts, place: int) -> tuple[Parts, Parts]:
    """Cut a line before one of its characters; each keeps what of it changed."""
    ends = (len(parts.before), len(parts.before) + len(parts.changed))
    starts = (0, *ends)
    cuts = [max(0, place - start) for start in starts]
    head = Parts(*(part[:cut] for part, cut in zip(parts, cuts, strict=True)))
    return head, Parts(*(part[cut:] for part, cut in zip(parts, cuts, strict=True)))


def _cut_lines(
    lines: Sequence[DiffLine], room: int
) -> tuple[tuple[DiffLine, ...], tuple[DiffLine, ...]]:
    for number, line in enumerate(lines):
        height = _line_rows(line)
        if height > room and room > 0:
            head, tail = _cut_parts(line.parts, len(cut_rows("".join(line.parts), room).head))
            shown = (*lines[:number], DiffLine(line.kind, line.old, line.new, head))
            return shown, (DiffLine(line.kind, "", "", tail), *lines[number + 1 :])
        if height > room:
            return tuple(lines[:number]), tuple(lines[number:])
        room -= height
    return tuple(lines), ()


def _argument_rows(argument: Argument) -> int:
    return max(1, row_count(argument.value))


def _line_rows(line: DiffLine) -> int:
    return max(1, row_count("".join(line.parts)))


def _height(body: Body) -> int:
    """Return how many rows of the card it takes."""
    text = row_count(body.text)
    return text + sum(map(_line_rows, body.lines)) + sum(map(_argument_rows, body.arguments))


def _lines(body: Body) -> int:
    """Return how many lines it has, however long they are."""
    texts = [body.text] if body.text else []
    texts += [argument.value for argument in body.arguments]
    return len(body.lines) + sum(text.count("\n") + 1 for text in texts)


def _fold(whole: Body) -> tuple[Body, Body]:
    """Cut the evidence after its first rows, through whatever stands there."""
    if _height(whole) <= FOLD_AFTER_ROWS:
        return whole, Body()
    arguments, more_arguments, room = _cut_arguments(whole.arguments, FOLD_AFTER_ROWS)
    text = cut_rows(whole.text, room)
    lines, more_lines = _cut_lines(whole.lines, room - row_count(whole.text))
    return Body(arguments, text.head, lines), Body(more_arguments, text.tail, more_lines)


def _summary(data: Mapping[str, Any]) -> str:
    if not data.get("diff"):
        return ""
    change = f"+{data.get('added') or 0} {MINUS}{data.get('removed') or 0}"
    total = data.get("total")
    return (
        f"{change} of {counted(total, 'line')}" if isinstance(total, int) and total > 0 else change
    )


def _marks(whole: Body, target: str) -> str:
    texts = [target, whole.text, *("".join(line.parts) for line in whole.lines)]
    texts += [text for part in whole.arguments for text in (part.name, part.value)]
    number = sum(count_marks(text) for text in texts)
    return f"{counted(number, 'invisible character')} shown" if number else ""


def present_evidence(
    data: Mapping[str, Any], args: Mapping[str, Any], *, is_unfolded: bool = False
) -> Evidence:
    """Return the evidence of a gate: its text and its change, or else the call's arguments.

    Args:
        is_unfolded: The part behind the fold is shown; the next press of Approve sends.
    """
    lines = _diff_lines(data.get("diff") or ())
    text = str(data.get("text") or "")
    whole = Body((), text, lines) if lines or text else Body(_arguments(args))
    shown, rest = _fold(whole)
    target = str(data.get("target") or "")
    return Evidence(
        title=str(data.get("title") or "What will run"),
        target=target,
        summary=_summary(data),
        note=str(data.get("note") or ""),
        marks=_marks(whole, target),
        shown=shown,
        rest=rest,
        folded=_height(rest),
        unit="line" if _height(rest) == _lines(rest) else "row",
        is_unfolded=is_unfolded,
    )
