"""The tool `read_output`: any part of an output of this thread that was too long to show."""

from __future__ import annotations

from pydantic import Field

from agents.core.tools.base import Tool, ToolArgs, ToolContext, ToolFailed

MAX_CHARS = 16_000
HEADER_CHARS = 400


class ReadOutputArgs(ToolArgs):
    """Arguments of `read_output`."""

    id: str = Field(description="The id that the notice in the output names.", max_length=100)
    offset: int = Field(default=0, description="First character, counted from 0.", ge=0)
    limit: int = Field(default=2000, description="How many characters.", ge=1, le=MAX_CHARS)


def _run(args: ReadOutputArgs, ctx: ToolContext) -> str:
    found = ctx.read_output(args.id, offset=args.offset, limit=args.limit)
    if found is None:
        raise ToolFailed("not_found", "This thread has no output with this id.")
    text, total = found
    if args.offset > total:
        raise ToolFailed(
            "invalid_arguments", f"offset {args.offset:,}: the output has {total:,} characters."
        )
    end = args.offset + len(text)
    following = f"next offset {end}" if end < total else "end of output"
    return f"[characters {args.offset:,}-{end:,} of {total:,}; {following}]\n{text}"


READ_OUTPUT = Tool(
    name="read_output",
    description=(
        "Read a part of an earlier tool output of this thread that was shown shortened. The first"
        " line says which characters these are, how many there are, and the next offset."
    ),
    args=ReadOutputArgs,
    run=_run,
    read_only=True,
    # A page is asked for by its size, so it is shown whole; to shorten it would lead in a circle.
    window_chars=MAX_CHARS + HEADER_CHARS,
)
