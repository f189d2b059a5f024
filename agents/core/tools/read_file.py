"""The tool `read_file`: a window of lines of a text file of any size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader, RawIOBase, TextIOWrapper
from typing import BinaryIO

from pydantic import Field
from typing_extensions import Buffer

from agents.core.tools.base import Tool, ToolArgs, ToolContext, ToolFailed
from agents.core.tools.change import workspace_of
from agents.core.tools.paths import normal_path, target_of
from agents.core.tools.text import (
    CRLF,
    LF,
    SNIFF_BYTES,
    Encoding,
    clean,
    encoding_of,
    has_lone_surrogate,
)

DEFAULT_LINES = 500
MAX_LINES = 5000
MAX_LINE_CHARS = 2000
MAX_CHARS = 512_000
# Lines are counted to the end of the file, but not beyond this many bytes.
MAX_SCAN_BYTES = 256 << 20
CHUNK = 1 << 16


class ReadFileArgs(ToolArgs):
    """Arguments of `read_file`."""

    path: str = Field(description="File, relative to the workspace root.", min_length=1)
    offset: int = Field(default=1, description="First line to show, counted from 1.", ge=1)
    limit: int = Field(
        default=DEFAULT_LINES, description="How many lines to show.", ge=1, le=MAX_LINES
    )


@dataclass(slots=True)
class _Page:
    """The lines of the window, and what was learnt of the file on the way to its end."""

    lines: list[str] = field(default_factory=list)
    chars: int = 0
    total: int = 0
    is_complete: bool = True
    has_crlf: bool = False
    has_invalid_bytes: bool = False


def _run(args: ReadFileArgs, ctx: ToolContext) -> str:
    path = normal_path(args.path)
    with workspace_of(ctx).open(path) as file:
        encoding = encoding_of(file.read(SNIFF_BYTES))
        size = file.seek(0, 2)
        if encoding is None:
            return f"(binary file of {size:,} bytes; it is not shown)"
        file.seek(len(encoding.mark))
        page = _read(file, encoding, args, ctx)
    if not page.total:
        return "(empty file)"
    if not page.lines:
        raise ToolFailed(
            "invalid_arguments", f'offset {args.offset:,}: "{path}" has {page.total:,} lines.'
        )
    return "\n".join([*page.lines, _footer(page, args.offset, encoding)])


def _read(file: BinaryIO, encoding: Encoding, args: ReadFileArgs, ctx: ToolContext) -> _Page:
    errors = "surrogateescape" if encoding.codec == "utf-8" else "replace"
    source = _Bounded(file, ctx)
    page = _Page()
    with TextIOWrapper(BufferedReader(source, CHUNK), encoding.codec, errors, newline=LF) as reader:
        for line, length in _pieces(reader):
            page.total += 1
            if page.total >= args.offset and len(page.lines) < args.limit:
                _show(page, line, length)
    page.is_complete = source.left > 0
    return page


class _Bounded(RawIOBase):
    """The bytes of a file up to a bound; each read of it first asks whether the call may go on."""

    def __init__(self, file: BinaryIO, ctx: ToolContext) -> None:
        self._file, self._ctx = file, ctx
        self.left = MAX_SCAN_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        self._ctx.check()
        view = memoryview(buffer)
        data = self._file.read(min(len(view), self.left))
        view[: len(data)] = data
        self.left -= len(data)
        return len(data)


def _pieces(reader: TextIOWrapper) -> Iterator[tuple[str, int]]:
    """Yield the head of each line and the line's length; no line is held whole."""
    while head := reader.readline(CHUNK):
        length, rest = len(head), head
        while not rest.endswith(LF) and (rest := reader.readline(CHUNK)):
            length += len(rest)
        yield head, length


def _show(page: _Page, line: str, length: int) -> None:
    if page.chars > MAX_CHARS:
        return
    page.has_crlf = page.has_crlf or line.endswith(CRLF)
    page.has_invalid_bytes = page.has_invalid_bytes or has_lone_surrogate(line)
    text = line.removesuffix(LF).removesuffix("\r")
    if length > MAX_LINE_CHARS + len(CRLF):
        text = f"{text[:MAX_LINE_CHARS]} [... {length - MAX_LINE_CHARS:,} more characters]"
    shown = f"{page.total:>6}\t{clean(text)}"
    page.chars += len(shown)
    page.lines.append(shown)


def _footer(page: _Page, offset: int, encoding: Encoding) -> str:
    last = offset + len(page.lines) - 1
    total = f"{page.total:,}" if page.is_complete else f"more than {page.total:,}"
    facts = [f"lines {offset:,}-{last:,} of {total}"]
    if last < page.total:
        facts.append(f"next offset {last + 1}")
    facts.append(encoding.label)
    if page.has_crlf:
        facts.append("CRLF line ends")
    if page.has_invalid_bytes:
        facts.append("invalid bytes shown as U+FFFD")
    return f"({'; '.join(facts)})"


def _target(args: ReadFileArgs) -> str:
    return target_of(args.path)


READ_FILE = Tool(
    name="read_file",
    description=(
        "Read a text file by lines. Each line has its number and a tab before it; the last line"
        " says which lines these are, how many there are, the next offset and the encoding."
        " Lines over 2,000 characters are cut."
    ),
    args=ReadFileArgs,
    run=_run,
    read_only=True,
    target=_target,
)
