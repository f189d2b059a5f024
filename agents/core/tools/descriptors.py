"""Reaching a file by a walk of descriptors, so that no symlink and no race leads out of a root.

Every name is looked up relative to its parent's open descriptor and never followed when it is a
symlink. A check of the path by text followed by an open of the path would leave a moment in which
a directory can be swapped for a link; a descriptor cannot be swapped.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from agents.core.tools.base import EntryKind, ToolFailed

DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A FIFO opened without O_NONBLOCK would wait for a writer for ever.
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_CODES = {
    errno.ENOENT: ("not_found", "does not exist"),
    errno.ELOOP: ("invalid_arguments", "is or goes through a symlink, which is never followed"),
    errno.ENOTDIR: ("invalid_arguments", "goes through something that is not a directory"),
    errno.EISDIR: ("invalid_arguments", "is a directory"),
    errno.EACCES: ("permission_denied", "may not be accessed"),
    errno.EPERM: ("permission_denied", "may not be accessed"),
    errno.EROFS: ("permission_denied", "is on a read-only file system"),
    errno.ENAMETOOLONG: ("invalid_arguments", "is too long a name"),
    errno.EINVAL: ("invalid_arguments", "is not a possible name here"),
    errno.EILSEQ: ("invalid_arguments", "is not a possible name here"),
}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def failure(error: OSError, path: str) -> ToolFailed:
    """Return what the model is told of a failed system call; never the driver's own text."""
    if error.errno in _FULL:
        return ToolFailed(
            "no_space", f'There is no space left in the workspace; "{path}" was not changed.'
        )
    known = _CODES.get(error.errno or 0)
    if known is None:
        return ToolFailed("transport_unavailable", "The workspace cannot be reached now.")
    return ToolFailed(known[0], f'"{path}" {known[1]}.')


def kind_of(mode: int) -> EntryKind:
    """Return what a `st_mode` says a name is."""
    if stat.S_ISREG(mode):
        return EntryKind.FILE
    if stat.S_ISDIR(mode):
        return EntryKind.DIRECTORY
    return EntryKind.SYMLINK if stat.S_ISLNK(mode) else EntryKind.SPECIAL


def look(parent: int, name: str) -> os.stat_result | None:
    """Return the status of a name itself, not of what a link points to; None where it is absent."""
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def require_file(status: os.stat_result, path: str) -> None:
    """Return where the status is a regular file's.

    Raises:
        ToolFailed: `invalid_arguments`; it is a directory, a symlink or a special file.
    """
    kind = kind_of(status.st_mode)
    if kind is EntryKind.DIRECTORY:
        raise ToolFailed("invalid_arguments", f'"{path}" is a directory.')
    if kind is EntryKind.SYMLINK:
        raise ToolFailed("invalid_arguments", f'"{path}" is a symlink, which is never followed.')
    if kind is EntryKind.SPECIAL:
        raise ToolFailed("invalid_arguments", f'"{path}" is not a regular file.')


def enter(parent: int, name: str) -> int:
    """Return an open descriptor of a directory in `parent`; the caller closes it.

    Raises:
        OSError: ELOOP where the name is a symlink (Linux answers ENOTDIR for one), and as `open`.
    """
    try:
        return os.open(name, DIRECTORY_FLAGS, dir_fd=parent)
    except NotADirectoryError:
        status = look(parent, name)
        if status is not None and stat.S_ISLNK(status.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
        raise


def make_and_enter(parent: int, name: str, *, mode: int) -> int:
    """Return an open descriptor of a directory in `parent`, made where it is absent.

    Raises:
        OSError: as `enter` and `mkdir`.
    """
    try:
        return enter(parent, name)
    except FileNotFoundError:
        pass
    with suppress(FileExistsError):
        os.mkdir(name, mode, dir_fd=parent)
        sync_directory(parent)
    return enter(parent, name)


def sync_directory(descriptor: int) -> None:
    """Return when the names in a directory are on the disk.

    Raises:
        OSError: they may not be. EINVAL is no such case: it is how some file systems say that they
            cannot sync a directory at all.
    """
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise


@contextmanager
def directory(root: int, names: tuple[str, ...], *, make_mode: int | None = None) -> Iterator[int]:
    """Hold an open descriptor of the directory that the names lead to from `root`.

    Args:
        make_mode: Mode of the directories that are made on the way; None makes none.

    Raises:
        OSError: as `enter` and `make_and_enter`.
    """
    held = os.dup(root)
    try:
        for name in names:
            if make_mode is None:
                below = enter(held, name)
            else:
                below = make_and_enter(held, name, mode=make_mode)
            os.close(held)
            held = below
        yield held
    finally:
        os.close(held)


def open_regular(parent: int, name: str, path: str) -> int:
    """Return an open descriptor of a regular file in `parent`; the caller closes it.

    The kind is asked before the open, because to open a device may do something, and once more of
    the descriptor, because the name may have changed hands in between.

    Raises:
        ToolFailed: `invalid_arguments`; it is not a regular file.
        OSError: as `open`.
    """
    status = look(parent, name)
    if status is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    require_file(status, path)
    descriptor = os.open(name, FILE_FLAGS, dir_fd=parent)
    try:
        require_file(os.fstat(descriptor), path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
