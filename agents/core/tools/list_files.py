"""The tool `list_files`: the files that a glob pattern selects."""

from __future__ import annotations

from contextlib import closing
from itertools import islice

from pydantic import Field

from agents.core.tools.base import Tool, ToolArgs, ToolContext
from agents.core.tools.paths import target_of
from agents.core.tools.selection import Selection
from agents.core.tools.text import shown_path

MAX_RESULTS = 5000


class ListFilesArgs(ToolArgs):
    """Arguments of `list_files`."""

    pattern: str = Field(
        description="Glob, relative to path: ** any directories, * ? [a-z] in a name, {a,b}.",
        min_length=1,
        max_length=512,
    )
    path: str = Field(
        default=".", description="Directory, relative to the workspace root.", min_length=1
    )
    max_results: int = Field(
        default=200, description="How many paths at most.", ge=1, le=MAX_RESULTS
    )


def _run(args: ListFilesArgs, ctx: ToolContext) -> str:
    selection = Selection(ctx, args.path, args.pattern)
    with closing(selection.files()) as files:
        found = [shown_path(entry.path) for entry in islice(files, args.max_results + 1)]
    lines = found[: args.max_results]
    if len(found) > args.max_results:
        lines.append(f"(more than {args.max_results:,} files match; narrow the pattern)")
    if not found:
        lines.append("(no files match)")
    return "\n".join(lines + selection.notes())


def _target(args: ListFilesArgs) -> str:
    return target_of(args.path)


LIST_FILES = Tool(
    name="list_files",
    description=(
        "List files by a glob pattern, as paths relative to the workspace root. Symlinks are not"
        " followed. Directories such as .git, node_modules, .venv, dist and bin are left out"
        " unless the path or the pattern names them."
    ),
    args=ListFilesArgs,
    run=_run,
    read_only=True,
    target=_target,
)
