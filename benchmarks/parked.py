"""A thousand parked runs: no worker slot is busy, and the process hardly grows."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from benchmarks.instance import scratch_directory
from benchmarks.report import Report
from benchmarks.served import Served, served
from tests.durability.processes import wait_for

RUNS = 1000
WARM_RUNS = 50
PROBES = 9
MOST_GROWTH_MB = 20.0
WRITE = 'call write_file {{"path": "note-{0}.txt", "content": "note {0}\\n"}}'
STATES = "SELECT status, COUNT(*) FROM agent_sessions_run GROUP BY status"
LEASED = "SELECT COUNT(*) FROM agent_sessions_run WHERE lease_owner <> '' AND status = 'waiting'"


def _send(instance: Served, number: int) -> None:
    body = {
        "manifest": "cowork",
        "thread_id": f"parked-{number}",
        "messages": [{"role": "user", "content": WRITE.format(number)}],
    }
    answer = instance.client.post("/api/chat", body)
    assert answer.status == 202, f"{answer.status} {answer.text[:300]}"


def _states(instance: Served) -> dict[str, int]:
    return {str(status): int(count) for status, count in instance.rows(STATES)}


def _park(instance: Served, numbers: range) -> None:
    """The runs were sent, and all runs of the instance wait."""
    for number in numbers:
        _send(instance, number)
    wait_for(
        lambda: _states(instance) == {"waiting": numbers.stop},
        f"{numbers.stop} runs wait",
        timeout=300,
    )


def _probe_ms(instance: Served) -> float:
    """Return how long a run that needs nobody takes, from sending to its end, in ms."""
    body: dict[str, Any] = {
        "manifest": "quick",
        "messages": [{"role": "user", "content": "say hello"}],
    }
    began = time.perf_counter()
    answer = instance.client.post("/api/chat", body)
    took = (time.perf_counter() - began) * 1000
    assert answer.status == 200, f"{answer.status} {answer.text[:300]}"
    return took


def _settled_rss(instance: Served) -> int:
    """Return the least memory seen over two seconds: caches of the moment are not growth."""
    seen = []
    for _ in range(20):
        seen.append(instance.rss_bytes())
        time.sleep(0.1)
    return min(seen)


def main() -> None:
    """The growth from a warm instance to one with a thousand parked runs was measured."""
    with scratch_directory() as directory, served(directory) as instance:
        _park(instance, range(WARM_RUNS))
        rss, threads = _settled_rss(instance), instance.threads()
        began = time.perf_counter()
        _park(instance, range(WARM_RUNS, WARM_RUNS + RUNS))
        took = time.perf_counter() - began
        grown = (_settled_rss(instance) - rss) / 1e6
        used = instance.cpu_seconds()
        time.sleep(5)
        idle = (instance.cpu_seconds() - used) / 5
        states = _states(instance)
        leased = int(instance.rows(LEASED)[0][0])
        more_threads = instance.threads() - threads
        probes = [_probe_ms(instance) for _ in range(PROBES)]
    report = Report("parked")
    report.figure("waiting", states.get("waiting", 0), "runs")
    report.claim("running", states.get("running", 0), "runs", at_most=0)
    report.claim("leases", leased, "held by waiting runs", at_most=0)
    report.claim("grown_mb", grown, "MB, web and worker", at_most=MOST_GROWTH_MB)
    report.figure("threads_grown", more_threads, "threads")
    report.figure("idle_cpu", idle * 100, "% of a core", "with all of them parked")
    report.figure("parking_ms", took / RUNS * 1000, "ms a run", "from sending to parked")
    report.figure("probe_ms", median(probes), "ms", "a free run beside them, to its end")
    report.show()


if __name__ == "__main__":
    main()
