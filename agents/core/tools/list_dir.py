"""The tool `list_dir`: what is in one directory."""

from __future__ import annotations

import json

from pydantic import Field

from agents.core.tools.base import Entry, EntryKind, Tool, ToolArgs, ToolContext
from agents.core.tools.change import workspace_of
from agents.core.tools.paths import target_of
from agents.core.tools.text import clean

MAX_ENTRIES = 500


class ListDirArgs(ToolArgs):
    """Arguments of `list_dir`."""

    path: str = Field(
        default=".", description="Directory, relative to the workspace root.", min_length=1
    )


def _run(args: ListDirArgs, ctx: ToolContext) -> str:
    workspace = workspace_of(ctx)
    entries, total = workspace.entries(args.path, limit=MAX_ENTRIES, check=ctx.check)
    lines = [_line(entry) for entry in entries]
    if total > len(entries):
        lines.append(f"(the first {len(entries):,} of {total:,} entries)")
    return "\n".join(lines) if lines else "(empty directory)"


def _line(entry: Entry) -> str:
    # JSON, one object a line: a name may hold spaces, quotes and line feeds.
    facts: dict[str, str | int] = {"name": clean(entry.path), "type": entry.kind.value}
    if entry.kind is EntryKind.FILE:
        facts["size"] = entry.size_bytes
    return json.dumps(facts, ensure_ascii=False)


def _target(args: ListDirArgs) -> str:
    return target_of(args.path)


LIST_DIR = Tool(
    name="list_dir",
    description=(
        "List one directory: a JSON object per line with name, type (file, directory, symlink,"
        " special) and the size of a file in bytes, sorted without regard to case, 500 at most."
    ),
    args=ListDirArgs,
    run=_run,
    read_only=True,
    target=_target,
)
