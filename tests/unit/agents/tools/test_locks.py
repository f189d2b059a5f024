from __future__ import annotations

import multiprocessing
import os
import threading
from pathlib import Path

import pytest

from agents.core.tools.base import ToolFailed
from tests.unit.agents.tools.bench import Bench

LINES = 40
SPAWN = multiprocessing.get_context("spawn")


def add_lines(data_dir: Path, name: str) -> None:
    bench = Bench(data_dir)
    for number in range(LINES):
        bench.call("write_file", path="log", content=f"{name} {number}\n", append=True)


def hold_and_tell(data_dir: Path, fifo: str) -> None:
    with Bench(data_dir).workspace.lock("f", check=lambda: None):
        Path(fifo).write_bytes(b"held")
        threading.Event().wait()


def expected_lines(names: list[str]) -> list[str]:
    return sorted(f"{name} {number}" for name in names for number in range(LINES))


def test_threads_that_write_one_file_lose_nothing(bench: Bench) -> None:
    names = ["a", "b", "c", "d"]
    threads = [threading.Thread(target=add_lines, args=(bench.data_dir, name)) for name in names]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted((bench.root / "log").read_text().splitlines()) == expected_lines(names)


@pytest.mark.slow
def test_processes_that_write_one_file_lose_nothing(bench: Bench) -> None:
    names = ["a", "b"]
    processes = [SPAWN.Process(target=add_lines, args=(bench.data_dir, name)) for name in names]

    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert sorted((bench.root / "log").read_text().splitlines()) == expected_lines(names)


@pytest.mark.slow
def test_a_writer_that_is_killed_frees_its_lock(bench: Bench, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    process = SPAWN.Process(target=hold_and_tell, args=(bench.data_dir, str(ready)))
    process.start()
    ready.read_bytes()
    late = bench.context(seconds=0.2)

    refused = bench.call("write_file", late, path="f", content="x")
    process.kill()
    process.join()

    assert refused.text.startswith("[error/timeout]")
    assert bench.text("write_file", path="f", content="x").startswith("Created")


def test_a_call_that_waits_for_a_lock_ends_with_its_time(bench: Bench) -> None:
    late = bench.context(seconds=0.2)

    with bench.workspace.lock("f", check=lambda: None):
        text = bench.call("write_file", late, path="./f", content="x").text

    assert text.startswith("[error/timeout]")
    assert bench.snapshot() == {}


def test_a_stopped_call_does_not_wait_on(bench: Bench) -> None:
    ctx = bench.context()

    with bench.workspace.lock("f", check=lambda: None):
        stop = threading.Timer(0.1, ctx.cancelled.set)
        stop.start()
        with pytest.raises(ToolFailed, match="stopped"), bench.workspace.lock("f", check=ctx.check):
            pass
        stop.join()


def write_without_end(data_dir: Path, fifo: str) -> None:
    bench = Bench(data_dir)
    bench.call("write_file", path="f", content="a" * 400_000)
    Path(fifo).write_bytes(b"written")
    while True:
        bench.call("write_file", path="f", content="b" * 400_000)
        bench.call("write_file", path="f", content="a" * 400_000)


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_one_content_or_the_other(
    bench: Bench, tmp_path: Path
) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    process = SPAWN.Process(target=write_without_end, args=(bench.data_dir, str(ready)))
    process.start()
    ready.read_bytes()

    process.kill()
    process.join()

    data = (bench.root / "f").read_bytes()
    assert data in (b"a" * 400_000, b"b" * 400_000)
