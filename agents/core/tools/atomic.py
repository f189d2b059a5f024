"""Replacing a file in one step: either all of the new bytes are there, or all of the old ones."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress

from agents.core.tools.base import ToolFailed
from agents.core.tools.descriptors import look, require_file, sync_directory

NEW_FILE_MODE = 0o644
_TEMPORARY_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def replace_file(parent: int, name: str, data: bytes, path: str) -> None:
    """Make the file `name` in the directory `parent` hold exactly `data`, durably.

    The bytes go to a file of another name beside it, which then takes the name over. An existing
    file keeps its permission bits and, where we may, its owner; set-id bits are dropped.

    Args:
        path: The path as the model knows it, for messages.

    Raises:
        ToolFailed: `invalid_arguments`; a directory, a symlink (a dangling one too) or a special
            file has the name. `internal`; it is written, but the disk did not confirm it.
        OSError: nothing was changed, and no temporary file is left.
    """
    before = look(parent, name)
    if before is not None:
        require_file(before, path)
    temporary = f".felix-{secrets.token_hex(16)}.tmp"
    descriptor = os.open(temporary, _TEMPORARY_FLAGS, 0o600, dir_fd=parent)
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            _fill(file.fileno(), data, before)
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=parent)
        raise
    _confirm(parent, path)


def _fill(descriptor: int, data: bytes, before: os.stat_result | None) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    if before is not None:
        with suppress(PermissionError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    # After chown, which clears bits; and by descriptor, so that no umask has a say.
    mode = NEW_FILE_MODE if before is None else stat.S_IMODE(before.st_mode) & 0o777
    os.fchmod(descriptor, mode)
    os.fsync(descriptor)


def _confirm(parent: int, path: str) -> None:
    try:
        sync_directory(parent)
    except OSError:
        raise ToolFailed(
            "internal", f'"{path}" was written, but the disk did not confirm it.'
        ) from None
