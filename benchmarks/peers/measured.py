"""What the peer scripts share: the work, the clock, and the JSON line they answer with."""

from __future__ import annotations

import json
import sqlite3
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

RESULT_BYTES = 1024


def note(number: int) -> str:
    """Return the 1 KB result of a step."""
    head = f"result {number} "
    return head + "x" * (RESULT_BYTES - len(head))


class Steps:
    """Notes when each step began, by the wall and by the processor."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def mark(self) -> None:
        """A step begins."""
        self.wall.append(time.perf_counter())
        self.cpu.append(time.process_time())


def file_bytes(database: Path) -> int:
    """Return the size of a SQLite file with its write-ahead log in it."""
    link = sqlite3.connect(database)
    link.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    link.close()
    return database.stat().st_size


def answer(steps: Steps, count: int, grown_bytes: int, **more: Any) -> None:
    """The figures of the run are on stdout."""
    took = [(after - before) * 1000 for before, after in pairwise(steps.wall)]
    cpu = [(after - before) * 1000 for before, after in pairwise(steps.cpu)]
    figures = {
        "first_10_ms": median(took[:10]),
        "last_10_ms": median(took[-10:]),
        "all_ms": median(took),
        "cpu_ms": sum(cpu) / len(cpu),
        "bytes_per_1000": grown_bytes / count * 1000,
    }
    print(json.dumps(figures | more))
