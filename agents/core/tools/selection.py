"""Which files below a directory a glob pattern selects, and what was left out on the way."""

from __future__ import annotations

from collections.abc import Generator

from agents.core.tools.base import Entry, ToolContext
from agents.core.tools.change import workspace_of
from agents.core.tools.globs import EXCLUDED_NAMES, Glob
from agents.core.tools.paths import split_path
from agents.core.tools.text import shown_path

MAX_NAMED = 5


class Selection:
    """The files below `path` whose path from there matches `pattern`.

    Directories with a name of `EXCLUDED_NAMES` are left out, unless the path or the pattern spells
    the name out. Only the part of a path below the workspace root counts, wherever that is.

    Raises:
        ToolFailed: `invalid_arguments`; the path or the pattern cannot be used.
    """

    def __init__(self, ctx: ToolContext, path: str, pattern: str) -> None:
        self._ctx = ctx
        self._path = path
        self._glob = Glob(pattern)
        names = split_path(path)
        self._above = len("".join(f"{name}/" for name in names))
        self._excluded = EXCLUDED_NAMES - set(names) - self._glob.literals
        self._left_out: set[str] = set()
        self._missed: list[str] = []

    def files(self) -> Generator[Entry, None, None]:
        """Yield the selected files in the order of their paths' segments."""
        workspace = workspace_of(self._ctx)
        missed = self._missed.append
        for entry in workspace.files(self._path, enter=self._enter, missed=missed):
            self._ctx.check()
            if self._glob.matches(entry.path[self._above :]):
                yield entry

    def _enter(self, directory: str) -> bool:
        self._ctx.check()
        if not self._glob.may_hold(directory[self._above :]):
            return False
        name = directory.rpartition("/")[2]
        if name in self._excluded:
            self._left_out.add(name)
            return False
        return True

    def notes(self) -> list[str]:
        """Return what a reader must know to not take the list for everything."""
        notes = []
        if self._left_out:
            notes.append(f"(left out: {', '.join(sorted(self._left_out))}; name one to enter it)")
        if self._missed:
            some = ", ".join(shown_path(path) for path in self._missed[:MAX_NAMED])
            notes.append(f"({len(self._missed):,} directories could not be read: {some})")
        return notes
