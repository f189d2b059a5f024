"""Statements of a run: caught on their way through Django's cursor, and replayed on a copy."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction

FLOOR = "floor"


@dataclass(slots=True)
class Recorder:
    """Catches every statement of one connection; SQLite itself tells of the commits.

    `marks` are the places in `statements` where steps begin.
    """

    statements: list[tuple[str, Any]] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    commits: int = 0
    commits_at: list[int] = field(default_factory=list)

    def install(self) -> None:
        """Every statement of this thread's connection is caught from now on."""
        connection.ensure_connection()
        connection.execute_wrappers.append(self._caught)

    def remove(self) -> None:
        """Nothing is caught any more."""
        connection.execute_wrappers.remove(self._caught)

    def count_commits(self) -> None:
        """SQLite tells of every COMMIT of this thread's connection, and is a bit slower for it."""
        connection.ensure_connection()
        connection.connection.set_trace_callback(self._traced)

    def _caught(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.statements.append((sql, params))
        return execute(sql, params, many, context)

    def _traced(self, statement: str) -> None:
        self.commits += statement.startswith("COMMIT")

    def mark(self) -> None:
        """A step begins here."""
        self.marks.append(len(self.statements))
        self.commits_at.append(self.commits)

    def steps(self) -> list[list[list[tuple[str, Any]]]]:
        """Return the statements of each step, by transaction, without BEGIN."""
        return [
            list(_transactions(self.statements[low:high])) for low, high in pairwise(self.marks)
        ]

    def commits_per_step(self) -> float:
        """Return the commits between the first mark and the last, per step."""
        return (self.commits_at[-1] - self.commits_at[0]) / (len(self.commits_at) - 1)


def _transactions(statements: list[tuple[str, Any]]) -> Iterator[list[tuple[str, Any]]]:
    group: list[tuple[str, Any]] = []
    for sql, params in statements:
        if sql.startswith("BEGIN"):
            if group:
                yield group
            group = []
        else:
            group.append((sql, params))
    if group:
        yield group


def copy_database(target: Path) -> None:
    """The file holds what the database holds now."""
    connection.ensure_connection()
    with sqlite3.connect(target) as copy:
        connection.connection.backup(copy)
    copy.close()


@contextmanager
def floor_database(path: Path) -> Iterator[Callable[[list[list[tuple[str, Any]]]], float]]:
    """Yield a function that does one step's transactions on the copy and returns the ms it took."""
    connections.databases[FLOOR] = {
        **connections.databases[DEFAULT_DB_ALIAS],
        "NAME": str(path),
    }
    floor = connections[FLOOR]
    floor.ensure_connection()

    def replay(step: list[list[tuple[str, Any]]]) -> float:
        began = time.perf_counter()
        for statements in step:
            with transaction.atomic(using=FLOOR):
                for sql, params in statements:
                    with floor.cursor() as cursor:
                        cursor.execute(sql, params)
                        if cursor.description:
                            cursor.fetchall()
        return (time.perf_counter() - began) * 1000

    try:
        yield replay
    finally:
        floor.close()
        del connections.databases[FLOOR]
        del connections[FLOOR]


def checkpoint() -> None:
    """The write-ahead log of this thread's connection is in the database file."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
