"""The tool `write_file`: a whole file, or more at its end."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

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
from agents.core.tools.text import Encoding, decode_file, with_line_end

MAX_CONTENT_BYTES = 512_000


def _bounded(content: str) -> str:
    size = len(content.encode("utf-8", "surrogatepass"))
    if size > MAX_CONTENT_BYTES:
        raise ValueError(f"{size:,} bytes; at most {MAX_CONTENT_BYTES:,} bytes are written at once")
    return content


class WriteFileArgs(ToolArgs):
    """Arguments of `write_file`."""

    path: str = Field(description="File, relative to the workspace root.", min_length=1)
    content: Annotated[str, AfterValidator(_bounded)] = Field(
        description="The whole new content, at most 512,000 bytes; or what is added with append."
    )
    append: bool = Field(default=False, description="Add to the end instead of replacing.")


def written(args: WriteFileArgs, before: bytes | None) -> bytes:
    """Return the file's bytes after the write: encoding, byte order mark and line ends are kept.

    Raises:
        ToolFailed: `invalid_arguments`, text cannot be added to a binary file; `limit`, the file
            would grow too large.
    """
    if before is None:
        return args.content.encode()
    old = decode_file(before)
    if old is None:
        if args.append:
            raise ToolFailed("invalid_arguments", f'"{args.path}" is binary; nothing was added.')
        return args.content.encode()
    content = with_line_end(args.content, old.line_end)
    if not args.append:
        return old.encoding.encode(content.removeprefix("\ufeff") if old.encoding.mark else content)
    after = before + Encoding(old.encoding.codec).encode(content)
    if len(after) > MAX_FILE_BYTES:
        raise ToolFailed("limit", f"The file would have over {MAX_FILE_BYTES:,} bytes.")
    return after


def _run(args: WriteFileArgs, ctx: ToolContext) -> str:
    change = make_change(ctx, args.path, lambda before: written(args, before))
    verb = "Created" if change.before is None else "Added to" if args.append else "Wrote"
    return f"{verb} {change.path}: {summary(change)}."


def _evidence(args: WriteFileArgs, ctx: ToolContext) -> Evidence:
    change = plan_change(ctx, args.path, lambda before: written(args, before))
    return evidence_of(change, "What will be added" if args.append else "What will be written")


def _preimage(args: WriteFileArgs, ctx: ToolContext) -> str:
    return preimage_of(read_target(ctx, args.path))


def _target(args: WriteFileArgs) -> str:
    return target_of(args.path)


WRITE_FILE = Tool(
    name="write_file",
    description=(
        "Create a file or replace its whole content (append=true adds to its end). Directories on"
        " the way are made. An existing file keeps its mode, encoding, byte order mark and line"
        " ends. To change a part of a file use edit_file."
    ),
    args=WriteFileArgs,
    run=_run,
    evidence=_evidence,
    preimage=_preimage,
    target=_target,
)
