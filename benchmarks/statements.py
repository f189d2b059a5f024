"""Statements of a run: caught on their way through Django's cursor, and replayed on a copy."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction

from agents.store import Bridge

FLOOR = "floor"


Transactions = list[list[tuple[str, Any]]]


@dataclass(slots=True)
class Recorder:
    """Catches every statement of one connection; SQLite itself tells of the commits."""

    commits: int = 0
    _statements: list[tuple[str, Any]] = field(default_factory=list)

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
        self._statements.append((sql, params))
        return execute(sql, params, many, context)

    def _traced(self, statement: str) -> None:
        self.commits += statement.startswith("COMMIT")

    def taken(self) -> Transactions:
        """Return what was caught since the last call, by transaction, without BEGIN."""
        caught, self._statements = self._statements, []
        return list(_transactions(caught))


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
    """The file holds what the database holds now, and the disk has taken it in."""
    connection.ensure_connection()
    with sqlite3.connect(target) as copy:
        connection.connection.backup(copy)
    copy.close()
    # Else the first steps that are measured wait for the copy's pages to be written back.
    os.sync()


class Floor:
    """The same statements without an engine: Django's cursor, a thread, a copy of the file."""

    def __init__(self, path: Path) -> None:
        connections.databases[FLOOR] = {
            **connections.databases[DEFAULT_DB_ALIAS],
            "NAME": str(path),
        }
        self.took_ms: list[float] = []
        self.statements: list[int] = []
        self._bridge = Bridge(1)

    async def replay(self, step: Transactions) -> None:
        """The step's transactions are done on the copy too, and timed."""
        self.statements.append(sum(len(group) + 1 for group in step))
        self.took_ms.append(await self._bridge.run(partial(_replay, step)))

    def close(self) -> None:
        """The copy's connection is closed."""
        asyncio.run(self._bridge.run(lambda: connections[FLOOR].close()))
        self._bridge.close()
        del connections.databases[FLOOR]


def _replay(step: Transactions) -> float:
    floor = connections[FLOOR]
    floor.ensure_connection()
    began = time.perf_counter()
    for statements in step:
        with transaction.atomic(using=FLOOR):
            for sql, params in statements:
                with floor.cursor() as cursor:
                    cursor.execute(sql, params)
                    if cursor.description:
                        cursor.fetchall()
    return (time.perf_counter() - began) * 1000


def checkpoint() -> None:
    """The write-ahead log of this thread's connection is in the database file."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
