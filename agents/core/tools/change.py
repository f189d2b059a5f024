"""Changing one file: the pre-image a reviewer saw, the evidence, and the write under the lock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agents.core.tools.base import Evidence, ToolContext, ToolFailed, Workspace
from agents.core.tools.diff import Diff, diff_lines
from agents.core.tools.paths import normal_path
from agents.core.tools.text import CRLF, LF, FileText, decode_file, lines_of, with_line_end
from felix_web.common.digests import digest_bytes

# The largest file that these tools change: what a reviewer can be shown in full.
MAX_FILE_BYTES = 4_000_000
ABSENT = "absent"

Plan = Callable[[bytes | None], bytes]


@dataclass(frozen=True, slots=True)
class Change:
    """A file as it was and as it is to be. `before` is None for a new file."""

    path: str
    before: bytes | None
    after: bytes

    @property
    def difference(self) -> Diff:
        """The change by lines; a binary file counts as replaced."""
        return diff_lines(*self._lines())

    def _lines(self) -> tuple[list[str], list[str]]:
        old, new = _text(self.before), _text(self.after)
        if old is None or new is None:
            return [], lines_of(new.text) if new else []
        if old.line_end == new.line_end == CRLF:
            return lines_of(with_line_end(old.text, LF)), lines_of(with_line_end(new.text, LF))
        return lines_of(old.text), lines_of(new.text)

    @property
    def total_lines(self) -> int:
        """How many lines the file has afterwards."""
        new = _text(self.after)
        return len(lines_of(new.text)) if new else 0


def workspace_of(ctx: ToolContext) -> Workspace:
    """Return the run's workspace.

    Raises:
        ToolFailed: `transport_unavailable`; the run has none.
    """
    if ctx.workspace is None:
        raise ToolFailed("transport_unavailable", "This run has no workspace.")
    return ctx.workspace


def preimage_of(data: bytes | None) -> str:
    """Return the digest of a file's kind and content; `absent` for none."""
    return ABSENT if data is None else f"file:{digest_bytes(data)}"


def read_target(ctx: ToolContext, path: str) -> bytes | None:
    """Return the file that is to be changed; None where there is none.

    Raises:
        ToolFailed: `limit`, it is too large to be shown in full; `invalid_arguments`, it is a
            directory, a symlink or a special file; and as `Workspace.read`.
    """
    return workspace_of(ctx).read(normal_path(path), max_bytes=MAX_FILE_BYTES)


def plan_change(ctx: ToolContext, path: str, plan: Plan) -> Change:
    """Return what the change would be now. Nothing is written."""
    before = read_target(ctx, path)
    return Change(normal_path(path), before, plan(before))


def make_change(ctx: ToolContext, path: str, plan: Plan) -> Change:
    """Return the change after it was made, planned anew from the file as it is under the lock.

    Raises:
        ToolFailed: `evidence_changed`, the file is not what the reviewer saw; what the plan, the
            workspace and `ctx.check` raise. In each case nothing was written.
    """
    workspace = workspace_of(ctx)
    with workspace.lock(path, check=ctx.check):
        before = read_target(ctx, path)
        if ctx.preimage not in (None, preimage_of(before)):
            raise ToolFailed(
                "evidence_changed",
                f'"{normal_path(path)}" changed after the review; nothing was written.',
            )
        change = Change(normal_path(path), before, plan(before))
        ctx.check()
        workspace.replace(path, change.after)
    return change


def evidence_of(change: Change, title: str) -> Evidence:
    """Return the change as a reviewer reads it."""
    difference = change.difference
    return Evidence(
        title=title,
        target=change.path,
        diff=difference.rows,
        added=difference.added,
        removed=difference.removed,
        total=change.total_lines,
        note=" ".join(_notes(change)),
    )


def _notes(change: Change) -> list[str]:
    old, new = _text(change.before), _text(change.after)
    notes = []
    if change.before is None:
        notes.append("New file.")
    elif old is None:
        notes.append(f"The binary file of {len(change.before):,} bytes is replaced as a whole.")
    if change.before == change.after:
        notes.append("The file stays as it is.")
    if new and new.line_end == CRLF:
        notes.append("Lines end with CRLF.")
    if new and (new.encoding.mark or new.encoding.codec != "utf-8"):
        notes.append(f"Encoding: {new.encoding.label}.")
    if any(text and text.has_invalid_bytes for text in (old, new)):
        notes.append("Bytes that are not valid UTF-8 are kept, and shown as U+FFFD.")
    if new and new.text and not new.text.endswith(LF):
        notes.append("No line end at the end of the file.")
    return notes


def _text(data: bytes | None) -> FileText | None:
    return decode_file(b"" if data is None else data)


def summary(change: Change) -> str:
    """Return the sizes of a change that was made: bytes, lines, and lines added and removed."""
    difference = change.difference
    return (
        f"{len(change.after):,} bytes, {change.total_lines:,} lines"
        f" (+{difference.added:,} -{difference.removed:,})"
    )
