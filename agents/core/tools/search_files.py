"""The tool `search_files`: lines of text files that hold a text or match a regular expression."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import Field

from agents.core.tools.base import Entry, Tool, ToolArgs, ToolContext, ToolFailed
from agents.core.tools.change import workspace_of
from agents.core.tools.linear_regex import BadPattern, LinearRegex, quote
from agents.core.tools.paths import target_of
from agents.core.tools.selection import Selection
from agents.core.tools.text import LF, clean, decode_file, shown_path, with_line_end

MAX_FILE_BYTES = 1_000_000
MAX_LINE_CHARS = 300
CHARS_BEFORE = 100
BUDGET_SECONDS = 5.0
CHECK_EVERY = 256


class SearchFilesArgs(ToolArgs):
    """Arguments of `search_files`."""

    query: str = Field(
        description="Text to find in a line; with regex=true an RE2 expression.",
        min_length=1,
        max_length=512,
    )
    path: str = Field(
        default=".", description="Directory, relative to the workspace root.", min_length=1
    )
    glob: str = Field(
        default="**/*",
        description="Which files, relative to path: ** any directories, * ? [a-z], {a,b}.",
        min_length=1,
        max_length=512,
    )
    regex: bool = Field(default=False, description="Take query as an RE2 regular expression.")
    ignore_case: bool = Field(default=False, description="Take upper and lower case as the same.")
    max_hits: int = Field(default=20, description="How many lines at most.", ge=1, le=50)


class _Hit(NamedTuple):
    path: str
    number: int
    line: str


@dataclass(slots=True)
class _Search:
    """One search under way: what it looks for, until when, and what it had to leave out."""

    ctx: ToolContext
    pattern: LinearRegex
    sieve: LinearRegex | None
    until: float
    large: int = 0
    unreadable: int = 0
    is_cut_short: bool = False
    hits: list[_Hit] = field(default_factory=list)

    def is_over(self) -> bool:
        """True where the budget is spent; raises where the call must end."""
        self.ctx.check()
        self.is_cut_short = self.is_cut_short or time.monotonic() > self.until
        return self.is_cut_short

    def file(self, entry: Entry) -> Iterator[_Hit]:
        """Yield the lines of a file that match; a binary file has none."""
        text = self._text(entry)
        if not text or (self.sieve and self.sieve.search(text) is None):
            return
        for number, line in enumerate(text.split(LF), start=1):
            if number % CHECK_EVERY == 0 and self.is_over():
                return
            span = self.pattern.search(line)
            if span is not None:
                yield _Hit(shown_path(entry.path), number, _cut(line, span.start))

    def _text(self, entry: Entry) -> str:
        if entry.size_bytes > MAX_FILE_BYTES:
            self.large += 1
            return ""
        try:
            data = workspace_of(self.ctx).read(entry.path, max_bytes=MAX_FILE_BYTES)
        except ToolFailed:
            # It went, changed its kind or grew since it was listed, or may not be read.
            self.unreadable += 1
            return ""
        decoded = decode_file(data or b"")
        return with_line_end(clean(decoded.text), LF) if decoded else ""


def search(args: SearchFilesArgs, ctx: ToolContext, *, budget_seconds: float) -> str:
    """Return the matching lines as `path:line: text`, then what was left out.

    Raises:
        ToolFailed: `invalid_arguments`; the expression, the glob or the path cannot be used.
    """
    selection = Selection(ctx, args.path, args.glob)
    until = time.monotonic() + budget_seconds
    under_way = _Search(ctx, _pattern(args), _sieve(args), until)
    with closing(selection.files()) as files:
        for entry in files:
            if under_way.is_over() or len(under_way.hits) > args.max_hits:
                break
            for hit in under_way.file(entry):
                under_way.hits.append(hit)
                if len(under_way.hits) > args.max_hits:
                    break
    return "\n".join(_report(under_way, args.max_hits) + selection.notes())


def _pattern(args: SearchFilesArgs) -> LinearRegex:
    pattern = args.query if args.regex else quote(args.query)
    try:
        return LinearRegex(pattern, ignore_case=args.ignore_case)
    except BadPattern as error:
        raise ToolFailed(
            "invalid_arguments",
            f"query: not an expression of RE2 (no look-around, no back-references): {error}",
        ) from None


def _sieve(args: SearchFilesArgs) -> LinearRegex | None:
    r"""Return a pattern that finds nothing in a whole text of which no line matches, or None.

    It spares most files the search line by line. `\A` and `\z` mean the ends of a line when lines
    are searched, and a group's flags could undo the one that lets `^` and `$` mean them here.
    """
    if not args.regex:
        return LinearRegex(quote(args.query), ignore_case=args.ignore_case)
    if any(mark in args.query for mark in (r"\A", r"\z", "(?")):
        return None
    try:
        return LinearRegex(f"(?m:{args.query})", ignore_case=args.ignore_case)
    except BadPattern:  # just small enough without the group
        return None


def _cut(line: str, start: int) -> str:
    if len(line) <= MAX_LINE_CHARS:
        return line
    first = max(0, min(start - CHARS_BEFORE, len(line) - MAX_LINE_CHARS))
    end = first + MAX_LINE_CHARS
    return f"{'...' if first else ''}{line[first:end]}{'...' if end < len(line) else ''}"


def _report(under_way: _Search, max_hits: int) -> list[str]:
    lines = [f"{hit.path}:{hit.number}: {hit.line}" for hit in under_way.hits[:max_hits]]
    if not lines:
        lines.append("(no line matches)")
    if len(under_way.hits) > max_hits:
        lines.append(f"(more than {max_hits} lines match; narrow the query or the glob)")
    if under_way.is_cut_short:
        lines.append("(the time was up before every file was searched)")
    if under_way.large:
        lines.append(f"(files over {MAX_FILE_BYTES:,} bytes not searched: {under_way.large:,})")
    if under_way.unreadable:
        lines.append(f"(files that could not be read: {under_way.unreadable:,})")
    return lines


def _run(args: SearchFilesArgs, ctx: ToolContext) -> str:
    return search(args, ctx, budget_seconds=BUDGET_SECONDS)


def _target(args: SearchFilesArgs) -> str:
    return target_of(args.path)


SEARCH_FILES = Tool(
    name="search_files",
    description=(
        "Find lines in text files: a literal text, or with regex=true an RE2 expression (no"
        " look-around, no back-references). Binary files and files over 1,000,000 bytes are not"
        " searched; it ends after 5 seconds. Paths are relative to the workspace root."
    ),
    args=SearchFilesArgs,
    run=_run,
    read_only=True,
    target=_target,
)
