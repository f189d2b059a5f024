"""The tool `edit_file`: one exact text in a file becomes another, every other byte stays."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import Field

from agents.core.tools.base import Evidence, Tool, ToolArgs, ToolContext, ToolFailed
from agents.core.tools.change import (
    MAX_FILE_BYTES,
    evidence_of,
    make_change,
    plan_change,
    preimage_of,
    read_target,
    summary,
)
from agents.core.tools.paths import target_of
from agents.core.tools.text import CRLF, LF, FileText, decode_file, with_line_end

MAX_STRING = 512_000


class EditFileArgs(ToolArgs):
    """Arguments of `edit_file`."""

    path: str = Field(description="File, relative to the workspace root.", min_length=1)
    old_string: str = Field(
        description="The exact text to replace, white space included.",
        min_length=1,
        max_length=MAX_STRING,
    )
    new_string: str = Field(description="The text in its place.", max_length=MAX_STRING)
    replace_all: bool = Field(
        default=False, description="Replace every occurrence; else there must be exactly one."
    )


class _Swap(NamedTuple):
    old: str
    new: str


def edited(args: EditFileArgs, before: bytes | None) -> bytes:
    """Return the file's bytes after the edit; only the replaced text differs.

    Raises:
        ToolFailed: `not_found`, there is no such file or no such text in it; `invalid_arguments`,
            the text is there more than once, nothing would change, or the file is binary; `limit`,
            the result would be too large (found before it is built).
    """
    if before is None:
        raise ToolFailed("not_found", f'"{args.path}" does not exist; write_file makes a file.')
    file = decode_file(before)
    if file is None:
        raise ToolFailed("invalid_arguments", f'"{args.path}" is binary; it cannot be edited.')
    swap = _swap(args, file)
    if swap.old == swap.new:
        raise ToolFailed("invalid_arguments", "old_string and new_string are the same.")
    count = _count(args, file.text, swap.old)
    growth = len(_bytes(file, swap.new)) - len(_bytes(file, swap.old))
    if len(before) + count * growth > MAX_FILE_BYTES:
        raise ToolFailed("limit", f"The file would have over {MAX_FILE_BYTES:,} bytes.")
    return file.encoding.encode(file.text.replace(swap.old, swap.new))


def _swap(args: EditFileArgs, file: FileText) -> _Swap:
    """Return the two texts with the line ends that this file has.

    A file that uses one line end keeps to it. In one that mixes them the text is taken as it was
    sent, and only where that is not found, with the other line end.
    """
    if file.line_end is not None:
        return _with_ends(args, file.line_end)
    as_sent = _Swap(args.old_string, args.new_string)
    others = (_with_ends(args, LF), _with_ends(args, CRLF))
    return next((swap for swap in (as_sent, *others) if swap.old in file.text), as_sent)


def _with_ends(args: EditFileArgs, line_end: str) -> _Swap:
    old, new = args.old_string, args.new_string
    return _Swap(with_line_end(old, line_end), with_line_end(new, line_end))


def _bytes(file: FileText, text: str) -> bytes:
    return text.encode(file.encoding.codec, file.encoding.errors)


def _count(args: EditFileArgs, text: str, old: str) -> int:
    first = text.find(old)
    if first < 0:
        raise ToolFailed(
            "not_found",
            f'old_string is not in "{args.path}". It must match exactly, white space included;'
            " read the file again.",
        )
    if args.replace_all:
        return text.count(old)
    # From the next character on, not from behind the match: "aa" is in "aaa" twice.
    if text.find(old, first + 1) >= 0:
        raise ToolFailed(
            "invalid_arguments",
            f'old_string is in "{args.path}" more than once. Send more of the text around it, or'
            " replace_all=true.",
        )
    return 1


def _run(args: EditFileArgs, ctx: ToolContext) -> str:
    change = make_change(ctx, args.path, lambda before: edited(args, before))
    return f"Edited {change.path}: {summary(change)}."


def _evidence(args: EditFileArgs, ctx: ToolContext) -> Evidence:
    change = plan_change(ctx, args.path, lambda before: edited(args, before))
    return evidence_of(change, "What will be changed")


def _preimage(args: EditFileArgs, ctx: ToolContext) -> str:
    return preimage_of(read_target(ctx, args.path))


def _target(args: EditFileArgs) -> str:
    return target_of(args.path)


EDIT_FILE = Tool(
    name="edit_file",
    description=(
        "Replace an exact text in a file. It must be there exactly once, unless replace_all=true."
        " Everything else stays byte for byte; line ends follow the file. The file may have up to"
        " 4,000,000 bytes."
    ),
    args=EditFileArgs,
    run=_run,
    evidence=_evidence,
    preimage=_preimage,
    target=_target,
)
