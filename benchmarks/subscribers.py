"""Five hundred readers of one run, each cut three times: nothing missed, nothing twice, in time."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.instance import scratch_directory
from benchmarks.report import Report
from benchmarks.served import Served, served
from tests.durability.processes import Command, environment, wait_for

READERS = 500
CUTS = 3
EVENTS = 1500
PER_SECOND = 50
WARM_READERS = 20
LAG_MS = 300.0
BYTES_EACH = 64_000
HOLD = 'say wait\nwith {"delay_ms": 600000}'
HEAD = "SELECT head_seq FROM agent_sessions_thread WHERE suffix = ?"


def _started_run(instance: Served, thread: str) -> str:
    """Return the id of a run that is held at its first model call until it is stopped."""
    body = {
        "manifest": "cowork",
        "thread_id": thread,
        "messages": [{"role": "user", "content": HOLD}],
    }
    token = instance.client.post("/api/chat", body).body["resume_token"]
    query = "SELECT id FROM agent_sessions_run WHERE resume_token = ? AND status = 'running'"
    found = wait_for(lambda: instance.rows(query, token), "the run is driven")
    return str(found[0][0])


def _readers(instance: Served, thread: str, count: int, cuts: int, events: int) -> Command:
    """Return the process of so many readers, all of them attached."""
    head = int(instance.rows(HEAD, thread)[0][0])
    arguments = ["-m", "benchmarks.readers", "--thread", thread, "--key", instance.key]
    given = {
        "port": instance.port,
        "readers": count,
        "cuts": cuts,
        "first-event": head,
        "last-event": head + events - 1,
    }
    for name, value in given.items():
        arguments += [f"--{name}", str(value)]
    log = instance.database.with_name(f"{thread}.log")
    process = Command(sys.executable, *arguments, env=environment(), log=log)
    wait_for(lambda: "attached" in _alive(process).output, "all readers are attached", 120)
    return process


def _alive(process: Command) -> Command:
    if not process.is_alive and "attached" not in process.output:
        raise RuntimeError(f"the readers ended:\n{process.output[-1000:]}")
    return process


def _stopped(instance: Served, thread: str, readers: Command) -> dict[str, Any]:
    """Stop the run, and with it the streams; returns what the readers saw."""
    instance.client.post("/api/chat/abort", {"thread_id": thread})
    code = readers.wait(120)
    if code != 0:
        raise RuntimeError(f"the readers failed:\n{readers.output[-1000:]}")
    seen: dict[str, Any] = json.loads(readers.output.splitlines()[-1])
    return seen


def _settled_rss(instance: Served) -> int:
    time.sleep(2)
    return instance.rss_bytes()


def _measured(instance: Served, order: Path) -> dict[str, Any]:
    _started_run(instance, "warm")
    _stopped(instance, "warm", _readers(instance, "warm", WARM_READERS, 0, 1))
    run_id = _started_run(instance, "watched")
    before = _settled_rss(instance)
    readers = _readers(instance, "watched", READERS, CUTS, EVENTS)
    attached, used = _settled_rss(instance), instance.cpu_seconds()
    told = {"run_id": run_id, "events": EVENTS, "per_second": PER_SECOND}
    order.with_suffix(".new").write_text(json.dumps(told))
    order.with_suffix(".new").rename(order)
    done = order.with_suffix(".done")
    wait_for(done.exists, "all events are written", 60 + 3 * EVENTS / PER_SECOND)
    took = json.loads(done.read_text())["took_seconds"]
    busy = (instance.cpu_seconds() - used) / took
    rss = instance.rss_bytes()
    seen = _stopped(instance, "watched", readers)
    return seen | {
        "bytes_each": (max(rss, attached) - before) / READERS,
        "attached_bytes_each": (attached - before) / READERS,
        "per_second": EVENTS / took,
        "cpu": busy * 100,
    }


def main() -> None:
    """The readers were served, cut and served again; what each saw was counted."""
    with scratch_directory() as directory:
        order = directory / "order"
        writing = (sys.executable, "-m", "benchmarks.writing")
        with served(directory, command=writing, BENCH_ORDER=str(order)) as instance:
            found = _measured(instance, order)
    report = Report("subscribers")
    report.figure("readers", found["readers"], "", f"{found['connections']} connections in all")
    report.figure("per_second", found["per_second"], "events", f"{EVENTS} events")
    report.claim("missed", found["missed"], "events", at_most=0)
    report.claim("repeated", found["repeated"], "events", at_most=0)
    report.figure("lag_p50_ms", found["lag_p50_ms"], "ms", "from the event's time to the reader")
    report.claim("lag_p95_ms", found["lag_p95_ms"], "ms", at_most=LAG_MS)
    report.figure("lag_max_ms", found["lag_max_ms"], "ms")
    report.claim("bytes_each", found["bytes_each"], "bytes", at_most=BYTES_EACH)
    report.figure("attached_bytes_each", found["attached_bytes_each"], "bytes", "before events")
    report.figure("web_cpu", found["cpu"], "% of a core", "the whole instance, while written")
    report.show()


if __name__ == "__main__":
    main()
