"""What a reviewer is shown before the two buttons: a text, a change, or the call's arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.views.present.changed_words import Parts, mark_changes
from agents.views.present.numbers import counted
from felix_web.common.visible_text import count_marks

FOLD_AFTER_LINES = 60
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
    """What is shown: `shown` at once, `rest` behind a fold that says its number of lines.

    `marks` says how many characters would hide or reorder text; all are shown by their codes.
    """

    title: str
    target: str
    summary: str
    note: str
    marks: str
    shown: Body
    rest: Body
    folded: int
    is_unfolded: bool

    @property
    def is_unseen(self) -> bool:
        """True while a part of it is behind the fold."""
        return self.folded > 0 and not self.is_unfolded

    @property
    def folded_words(self) -> str:
        """The fold's label: `214 more lines`."""
        return counted(self.folded, "more line")


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
) -> tuple[tuple[Argument, ...], tuple[Argument, ...]]:
    shown, rest = [], []
    for argument in arguments:
        lines = argument.value.split("\n")
        head = "\n".join(lines[: max(0, room)])
        if room > 0:
            shown.append(Argument(argument.name, head))
        if len(lines) > room:
            tail = "\n".join(lines[max(0, room) :])
            rest.append(Argument(argument.name, tail, is_rest=room > 0))
        room -= len(lines)
    return tuple(shown), tuple(rest)


def _length(body: Body) -> int:
    text = len(body.text.split("\n")) if body.text else 0
    return len(body.lines) + text + sum(len(part.value.split("\n")) for part in body.arguments)


def _fold(whole: Body) -> tuple[Body, Body]:
    """Cut the evidence after its first lines, through whatever stands there."""
    if _length(whole) <= FOLD_AFTER_LINES:
        return whole, Body()
    room = FOLD_AFTER_LINES
    arguments, more_arguments = _cut_arguments(whole.arguments, room)
    room = max(0, room - _length(Body(arguments=whole.arguments)))
    text = whole.text.split("\n") if whole.text else []
    lines_room = max(0, room - len(text))
    return (
        Body(arguments, "\n".join(text[:room]), whole.lines[:lines_room]),
        Body(more_arguments, "\n".join(text[room:]), whole.lines[lines_room:]),
    )


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
        folded=_length(rest),
        is_unfolded=is_unfolded,
    )
