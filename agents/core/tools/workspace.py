"""A workspace on a local directory, reached by descriptors only."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from agents.core.tools.atomic import replace_file
from agents.core.tools.base import Entry, EntryKind, ToolFailed
from agents.core.tools.descriptors import (
    directory,
    enter,
    failure,
    kind_of,
    look,
    make_and_enter,
    open_regular,
)
from agents.core.tools.locks import PathLocks
from agents.core.tools.paths import WorkspaceScope, split_path, workspace_root

ROOT_MODE = 0o700
DIRECTORY_MODE = 0o755
MAX_DEPTH = 64
CHECK_EVERY = 1000


class DirectoryWorkspace:
    """The `Workspace` of one directory (see the protocol for what each method promises).

    Args:
        root: The directory; made at first use, with 0700, as are those between it and `base`.
        base: The operator's data directory, an ancestor of `root`. It must exist. The way to it is
            trusted; below it no symlink is followed. The lock files live in it.
    """

    def __init__(self, root: Path, *, base: Path) -> None:
        self._base = base
        self._names = root.relative_to(base).parts
        self._locks = PathLocks(base / "workspace-locks")

    def find(self, path: str) -> Entry | None:
        """Return what is at the path, without following a symlink; None where there is nothing."""
        names = split_path(path)
        if not names:
            return Entry(".", EntryKind.DIRECTORY)
        try:
            with self._parent(names) as parent:
                status = look(parent, names[-1])
        except FileNotFoundError:
            return None
        except OSError as error:
            raise failure(error, path) from None
        return None if status is None else _entry("/".join(names), status)

    def entries(
        self, path: str, *, limit: int, check: Callable[[], None]
    ) -> tuple[list[Entry], int]:
        """Return the first entries of a directory and the number of all of them."""
        names = split_path(path)
        total = 0

        def counted(listing: Iterator[os.DirEntry[str]]) -> Iterator[str]:
            nonlocal total
            for total, entry in enumerate(listing, start=1):
                if total % CHECK_EVERY == 0:
                    check()
                yield entry.name

        try:
            with self._root() as root, directory(root, names) as held:
                with os.scandir(held) as listing:
                    first = heapq.nsmallest(limit, counted(listing), key=_case_blind)
                found = [(name, look(held, name)) for name in first]
        except OSError as error:
            raise failure(error, path) from None
        return [_entry(name, status) for name, status in found if status is not None], total

    def files(
        self, path: str, *, enter: Callable[[str], bool], missed: Callable[[str], None]
    ) -> Iterator[Entry]:
        """Yield the regular files below a directory, in the order of their paths' segments."""
        names = split_path(path)
        try:
            with self._root() as root, directory(root, names) as held:
                yield from _walk(held, names, enter, missed)
        except OSError as error:
            raise failure(error, path) from None

    @contextmanager
    def open(self, path: str) -> Iterator[BinaryIO]:
        """Open a regular file for reading bytes."""
        names = _file_names(path)
        try:
            with self._parent(names) as parent:
                descriptor = open_regular(parent, names[-1], path)
        except OSError as error:
            raise failure(error, path) from None
        with os.fdopen(descriptor, "rb") as file:
            try:
                yield file
            except OSError as error:
                raise failure(error, path) from None

    def read(self, path: str, *, max_bytes: int) -> bytes | None:
        """Return the bytes of a file; None where there is nothing."""
        if self.find(path) is None:
            return None
        with self.open(path) as file:
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise ToolFailed("limit", f'"{path}" is larger than {max_bytes:,} bytes.')
        return data

    def replace(self, path: str, data: bytes) -> None:
        """Make the file hold exactly these bytes, in one step that a crash cannot halve."""
        names = _file_names(path)
        try:
            with self._parent(names, make=True) as parent:
                replace_file(parent, names[-1], data, path)
        except OSError as error:
            raise failure(error, path) from None

    @contextmanager
    def lock(self, path: str, *, check: Callable[[], None]) -> Iterator[None]:
        """Hold the path for one writer among all threads and processes of this data directory."""
        relative = "/".join(split_path(path))
        with self._root() as root:
            status = os.fstat(root)
        key = f"{status.st_dev}:{status.st_ino}:{relative}"
        with ExitStack() as stack:
            try:
                stack.enter_context(self._locks.hold(key, check=check))
            except OSError as error:
                raise _unreachable(error) from None
            yield

    @contextmanager
    def _parent(self, names: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
        mode = DIRECTORY_MODE if make else None
        with self._root() as root, directory(root, names[:-1], make_mode=mode) as held:
            yield held

    @contextmanager
    def _root(self) -> Iterator[int]:
        try:
            held = self._open_root()
        except OSError as error:
            raise _unreachable(error) from None
        try:
            yield held
        finally:
            os.close(held)

    def _open_root(self) -> int:
        held = os.open(self._base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in self._names:
                below = make_and_enter(held, name, mode=ROOT_MODE)
                os.close(held)
                held = below
        except BaseException:
            os.close(held)
            raise
        return held


def open_workspace(
    data_dir: Path, tenant_slug: str, scope: WorkspaceScope, thread_suffix: str
) -> DirectoryWorkspace:
    """Return the workspace of a scope; nothing is touched before its first use.

    Raises:
        ToolFailed: as `workspace_root`.
    """
    root = workspace_root(data_dir, tenant_slug, scope, thread_suffix)
    return DirectoryWorkspace(root, base=data_dir)


def _file_names(path: str) -> tuple[str, ...]:
    names = split_path(path)
    if not names:
        raise ToolFailed("invalid_arguments", f'"{path}" is a directory.')
    return names


def _unreachable(error: OSError) -> ToolFailed:
    told = failure(error, ".")
    if told.code == "no_space":
        return ToolFailed(told.code, "There is no space left for the workspace.")
    return ToolFailed("transport_unavailable", "The workspace cannot be reached now.")


def _case_blind(name: str) -> tuple[str, str]:
    return name.casefold(), name


def _entry(path: str, status: os.stat_result) -> Entry:
    kind = kind_of(status.st_mode)
    return Entry(path, kind, status.st_size if kind is EntryKind.FILE else 0)


def _walk(
    held: int,
    names: tuple[str, ...],
    may_enter: Callable[[str], bool],
    missed: Callable[[str], None],
) -> Iterator[Entry]:
    with os.scandir(held) as listing:
        found = sorted(entry.name for entry in listing)
    for name in found:
        status = look(held, name)
        below = (*names, name)
        path = "/".join(below)
        if status is None:
            continue
        kind = kind_of(status.st_mode)
        if kind is EntryKind.FILE:
            yield _entry(path, status)
        elif kind is EntryKind.DIRECTORY and may_enter(path):
            if len(below) > MAX_DEPTH:
                missed(path)
                continue
            yield from _descend(held, below, may_enter, missed)


def _descend(
    parent: int,
    names: tuple[str, ...],
    may_enter: Callable[[str], bool],
    missed: Callable[[str], None],
) -> Iterator[Entry]:
    try:
        held = enter(parent, names[-1])
    except OSError:
        missed("/".join(names))
        return
    try:
        yield from _walk(held, names, may_enter, missed)
    finally:
        os.close(held)
