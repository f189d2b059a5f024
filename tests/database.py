"""The test database, fit for tests with several threads."""

from __future__ import annotations

import threading
from pathlib import Path

from django.db import connection, connections

from agents.hub import READ_THREADS, hub


def keep_in_a_file(folder: Path) -> None:
    """SQLite in memory knows no readers beside a writer, so that the test database is a file."""
    if connections.settings["default"]["ENGINE"].endswith("sqlite3"):
        for settings in (connections.settings["default"], connections["default"].settings_dict):
            settings.setdefault("TEST", {})["NAME"] = str(folder / "test.sqlite3")


def let_go() -> None:
    """The hub's threads have done what they were asked, and hold no connection."""
    together = threading.Barrier(READ_THREADS)

    def close() -> None:
        together.wait(timeout=20)
        connection.close()

    pool = hub().bridge._pool
    for done in [pool.submit(close) for _ in range(READ_THREADS)]:
        done.result(timeout=20)
