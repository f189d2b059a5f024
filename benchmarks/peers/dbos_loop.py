"""A workflow on DBOS with SQLite: a model answer and a 1 KB result per step, each a DBOS step."""

from __future__ import annotations

import argparse
import sqlite3
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dbos import DBOS, SetWorkflowID

from benchmarks.peers.measured import Steps, answer, file_bytes, note

STEPS = Steps()


@DBOS.step()
def ask_model(number: int) -> dict[str, Any]:
    """Return the model's answer: its text, one call, its usage."""
    return {
        "content": f"Step {number}.",
        "tool_calls": [{"id": f"call_{number}", "name": "note", "args": {"number": number}}],
        "usage": {"input": 1200, "output": 30, "cache_read": 1000},
    }


@DBOS.step()
def run_tool(number: int) -> str:
    """Return the result of the call."""
    return note(number)


@DBOS.workflow()
def take_notes(count: int) -> str:
    """The loop of an agent: ask, run, and again."""
    for number in range(count):
        STEPS.mark()
        call = ask_model(number)["tool_calls"][0]
        run_tool(call["args"]["number"])
    STEPS.mark()
    return "That is all."


def main() -> None:
    """One run was measured; the figures are on stdout."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--wal", action="store_true")
    parser.add_argument("--directory", type=Path, required=True)
    given = parser.parse_args()
    database = given.directory / "dbos.sqlite3"
    if given.wal:
        sqlite3.connect(database).execute("PRAGMA journal_mode=WAL")
    DBOS(
        config={
            "name": "bench",
            "system_database_url": f"sqlite:///{database}",
            "log_level": "ERROR",
        }
    )
    DBOS.launch()
    with SetWorkflowID("warm"):
        take_notes(30)
    before = file_bytes(database)
    STEPS.wall.clear()
    STEPS.cpu.clear()
    with SetWorkflowID("measured"):
        take_notes(given.steps)
    journal = sqlite3.connect(database).execute("PRAGMA journal_mode").fetchone()[0]
    grown = file_bytes(database) - before
    answer(STEPS, given.steps, grown, version=version("dbos"), journal=journal)
    DBOS.destroy()


if __name__ == "__main__":
    main()
