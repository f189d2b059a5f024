"""The real commands as processes of a benchmark: `felix up`, and a fake provider beside it."""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.durability.client import Client, Dropped
from tests.durability.processes import FELIX, Command, environment, felix, free_port, wait_for

START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Served:
    """An instance that answers, with a key for everything."""

    process: Command
    database: Path
    port: int
    key: str

    @property
    def client(self) -> Client:
        """A client of the REST interface."""
        return Client(self.port, self.key, timeout=60.0)

    def rows(self, query: str, *given: Any) -> list[tuple[Any, ...]]:
        """Return what a query of the instance's database finds, read from outside."""
        link = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=20)
        try:
            return link.execute(query, given).fetchall()
        finally:
            link.close()

    def rss_bytes(self) -> int:
        """Return the memory of the process that is resident now."""
        return _status(self.process.pid, "VmRSS") * 1024

    def threads(self) -> int:
        """Return how many threads the process has now."""
        return _status(self.process.pid, "Threads")

    def cpu_seconds(self) -> float:
        """Return the processor time that the process has used so far."""
        text = Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = text.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _status(pid: int, name: str) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE)
    assert found is not None, f"no {name} of process {pid}"
    return int(found[1])


def accepts(port: int) -> bool:
    """Return whether something listens on the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _ended(process: Command) -> None:
    if process.is_alive:
        process.interrupt()
        process.wait()


@contextmanager
def fake_provider(directory: Path) -> Iterator[str]:
    """Yield the base URL of a provider in a process of its own."""
    port = free_port()
    arguments = (sys.executable, "-m", "tests.fakes.provider", "--port", str(port))
    process = Command(*arguments, env=environment(), log=directory / "provider.log")
    try:
        wait_for(lambda: accepts(port), "the fake provider answers", START_SECONDS)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()


@contextmanager
def served(
    directory: Path, *, command: tuple[str, ...] = (str(FELIX), "up"), **more: str
) -> Iterator[Served]:
    """Yield a running instance on an empty data directory, its model the fake provider.

    Args:
        command: What serves; `felix up`, or a script that does that and more.
        more: Further variables of its environment.
    """
    with fake_provider(directory) as base_url:
        port = free_port()
        settings = environment(
            DATA_DIR=str(directory / "data"),
            PORT=str(port),
            OPENAI_BASE_URL=base_url,
            OPENAI_API_KEY="benchmark",
            OPENAI_MODEL="fake",
            LOG_LEVEL="ERROR",
        )
        process = Command(*command, env=settings | more, log=directory / "felix.log")
        try:
            wait_for(lambda: _is_ready(port) or _gone(process), "felix up is ready", START_SECONDS)
            created = "key", "create", "--tenant", "default", "--name", "bench", "--scopes", "*"
            key = felix(*created, env=settings).splitlines()[-1]
            yield Served(process, directory / "data" / "felix.sqlite3", port, key)
        finally:
            _ended(process)


def _is_ready(port: int) -> bool:
    try:
        return Client(port, timeout=5).ask("GET", "/ready").status == 200
    except Dropped:
        return False


def _gone(process: Command) -> bool:
    if not process.is_alive:
        raise RuntimeError(f"felix up ended:\n{process.output[-1000:]}")
    return False
