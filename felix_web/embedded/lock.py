"""One process per data directory."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import ClassVar

from felix_web.common.errors import FelixError
from felix_web.deployment import data_folder


class AlreadyUp(FelixError):
    """Another process serves this data directory."""

    code: ClassVar[str] = "already_up"
    title = "Already up"


class DataLock:
    """Holds the data directory until the process ends, however it ends.

    The kernel frees the lock.
    """

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / "felix.pid"
        self._handle: int | None = None

    def take(self) -> None:
        """The directory is this process's.

        Raises:
            AlreadyUp: another one's; the message names its pid.
            EnvError: the directory cannot be written.
        """
        with data_folder(self._path.parent):
            self._take()

    def _take(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = os.read(handle, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(handle)
            raise AlreadyUp(
                f"Felix is up on {self._path.parent} already (pid {pid}).", pid=pid
            ) from None
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        self._handle = handle
