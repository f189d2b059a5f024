"""One writer per path, among the threads of a process and among processes."""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

STRIPES = 256
WAIT_SECONDS = 0.1
RETRY_SECONDS = 0.005

# Protects nothing by itself: it hands a stripe from thread to thread without polling; the file
# lock below it is what counts between processes.
_THREADS = tuple(threading.Lock() for _ in range(STRIPES))


class PathLocks:
    """Locks of the paths below one data directory.

    A path is hashed to one of 256 stripes: a thread lock here, and `flock` on a small file outside
    every workspace, which all processes that share the data directory see. Two paths may share a
    stripe; they then wait for each other and nothing worse, because a holder takes no second lock.
    The system frees a file lock when its holder dies. A program that writes into the workspace
    without this lock (a command in a sandbox) is not held up by it.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @contextmanager
    def hold(self, key: str, *, check: Callable[[], None]) -> Iterator[None]:
        """Hold the stripe of a key; not to be taken again by the holder.

        Args:
            key: Equal for equal files, whoever asks.
            check: Called while waiting; what it raises ends the wait.

        Raises:
            OSError: the lock file cannot be opened.
        """
        stripe = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[0]
        lock = _THREADS[stripe]
        while not lock.acquire(timeout=WAIT_SECONDS):
            check()
        try:
            descriptor = self._open(stripe)
            try:
                _lock_file(descriptor, check)
                yield
            finally:
                os.close(descriptor)
        finally:
            lock.release()

    def _open(self, stripe: int) -> int:
        self._directory.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(self._directory / f"{stripe:02x}", flags, 0o600)


def _lock_file(descriptor: int, check: Callable[[], None]) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            check()
            time.sleep(RETRY_SECONDS)
