"""The log work of a durable step: commits, time beside the bare statements, growth, disk, peers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.instance import disk_bytes, operator, scratch_directory, set_up_here
from benchmarks.peers.runner import INSTALL, PEERS, are_installed, peer_figures
from benchmarks.report import Report, medians

if TYPE_CHECKING:
    from benchmarks.statements import Recorder
    from benchmarks.stepping import InstantModel

ROUNDS = 3
SIZES = (200, 1000)
COMMITS_REPLAY_SAFE = 2.0
COMMITS_OTHERWISE = 3.0
RATIO_TO_FLOOR = 5.0
RATIO_OF_GROWTH = 1.3
BYTES_PER_1000_STEPS = 5_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """One measured run."""

    steps: int
    replay_safe: bool

    @property
    def name(self) -> str:
        """How the case is called in the report."""
        return f"{self.steps}_{'replay_safe' if self.replay_safe else 'effect'}"


async def _drive(case: Case, claimed: Any, tools: Any, *, count_commits: bool) -> Any:
    """Drive a claimed run to its end; returns its model and what the database was told."""
    from agents.leases import LeaseKeeper
    from benchmarks.statements import Recorder
    from benchmarks.stepping import LEASE_SECONDS, bound

    bridge, threads = tools
    recorder = Recorder()
    keeper = LeaseKeeper(
        owner="benchmark",
        lease_seconds=LEASE_SECONDS,
        driven=lambda: [claimed.claim.run_id],
        lost=lambda run_id: None,
    )
    keeper.start()
    run = await bound(claimed, bridge, threads, steps=case.steps, replay_safe=case.replay_safe)
    run.model.on_ask = recorder.mark
    await bridge.run(recorder.install)
    if count_commits:
        await bridge.run(recorder.count_commits)
    await run.driver.drive()
    await bridge.run(recorder.remove)
    keeper.close()
    keeper.join()
    return run.model, recorder


def _measure(case: Case, number: int, directory: Path, *, count_commits: bool) -> dict[str, float]:
    from django.conf import settings

    from agents.runtime import ToolThreads
    from agents.store import Bridge
    from benchmarks.statements import checkpoint, copy_database, floor_database
    from benchmarks.stepping import claimed_run, close_connection

    claimed = claimed_run(operator(), f"{case.name}-{number}-{count_commits}")
    checkpoint()
    database = Path(settings.DATABASES["default"]["NAME"])
    before = disk_bytes(database)
    copy = directory / f"{case.name}-{number}.sqlite3"
    copy_database(copy)
    bridge, threads = Bridge(1), ToolThreads(4)
    model, recorder = asyncio.run(
        _drive(case, claimed, (bridge, threads), count_commits=count_commits)
    )
    checkpoint()
    after = disk_bytes(database)
    with floor_database(copy) as replay:
        floor = [replay(step) for step in recorder.steps()]
    asyncio.run(bridge.run(close_connection))
    bridge.close()
    threads.close()
    return _figures(model, floor, recorder, (after - before) / case.steps * 1000)


def _figures(
    model: InstantModel, floor: list[float], recorder: Recorder, disk: float
) -> dict[str, float]:
    took, cpu = model.step_ms(), model.step_cpu_ms()
    per_step = [sum(len(group) + 1 for group in step) for step in recorder.steps()]
    return {
        "commits_per_step": recorder.commits_per_step(),
        "statements_per_step": median(per_step),
        "statements_of_last_step": per_step[-1],
        "first_10_ms": median(took[:10]),
        "last_10_ms": median(took[-10:]),
        "all_ms": median(took),
        "cpu_ms": sum(cpu) / len(cpu),
        "growth": median(took[-10:]) / median(took[:10]),
        "growth_cpu": median(cpu[-10:]) / median(cpu[:10]),
        "floor_ms": median(floor),
        "to_floor": median(took) / median(floor),
        "total_to_floor": sum(took) / sum(floor),
        "bytes_per_1000": disk,
    }


def _report(case: Case, figures: dict[str, float]) -> None:
    report = Report(f"durable_step {case.name}")
    allowed = COMMITS_REPLAY_SAFE if case.replay_safe else COMMITS_OTHERWISE
    report.claim("commits_per_step", round(figures["commits_per_step"], 2), "", at_most=allowed)
    for key in ("statements_per_step", "statements_of_last_step"):
        report.figure(key, figures[key], "", "BEGIN counted, COMMIT not")
    report.figure("cpu_ms", figures["cpu_ms"], "ms", "processor time of a step, all threads")
    for key in ("first_10_ms", "last_10_ms", "all_ms"):
        report.figure(key, figures[key], "ms", "p50 of a step")
    report.claim("growth", figures["growth"], "last 10 / first 10", at_most=RATIO_OF_GROWTH)
    report.figure("growth_cpu", figures["growth_cpu"], "last 10 / first 10", "processor time")
    report.figure("floor_ms", figures["floor_ms"], "ms", "same statements, Django's cursor")
    report.claim("to_floor", figures["to_floor"], "times", at_most=RATIO_TO_FLOOR)
    report.figure("total_to_floor", figures["total_to_floor"], "times", "all steps together")
    size = figures["bytes_per_1000"]
    report.claim("bytes_per_1000", size, "bytes", at_most=BYTES_PER_1000_STEPS)
    report.show()


def _report_peers(case: Case, ours: dict[str, float], peers: dict[str, dict[str, Any]]) -> None:
    report = Report(f"durable_step {case.name} beside its peers")
    for name, figures in {"felix": ours, **peers}.items():
        made = (
            f"version {figures['version']}, journal {figures['journal']}" if name in peers else ""
        )
        report.figure(f"{name}_ms", figures["all_ms"], "ms", made)
        report.figure(f"{name}_cpu_ms", figures["cpu_ms"], "ms")
        growth = figures["last_10_ms"] / figures["first_10_ms"]
        report.figure(f"{name}_growth", growth, "last 10 / first 10")
        report.figure(f"{name}_bytes_per_1000", figures["bytes_per_1000"], "bytes")
    report.claim("to_dbos", ours["all_ms"] / peers["dbos"]["all_ms"], "times", at_most=1.0)
    for name in ("dbos_wal", "langgraph", "langgraph_delta"):
        report.figure(f"to_{name}", ours["all_ms"] / peers[name]["all_ms"], "times")
    report.show()


def _round(case: Case, number: int, directory: Path, peers: Sequence[str]) -> dict[str, Any]:
    """Return the figures of one round: ours, then each peer's at once after it."""
    ours = _measure(case, number, directory, count_commits=False)
    # LangGraph's default writes gigabytes at a thousand steps: one round of it is enough.
    asked = [name for name in peers if number == 1 or not name.startswith("langgraph")]
    return {"felix": ours, **{name: peer_figures(name, steps=case.steps) for name in asked}}


def _run_case(case: Case, directory: Path, peers: Sequence[str]) -> None:
    commits = _measure(case, 0, directory, count_commits=True)["commits_per_step"]
    rounds = [_round(case, number, directory, peers) for number in range(1, ROUNDS + 1)]
    ours = medians([one["felix"] for one in rounds]) | {"commits_per_step": commits}
    _report(case, ours)
    if peers:
        beside = {
            name: _peer_medians([one[name] for one in rounds if name in one]) for name in peers
        }
        _report_peers(case, ours, beside)


def _peer_medians(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    words = {key: value for key, value in rounds[0].items() if isinstance(value, str)}
    numbers = [{key: one[key] for key in one if key not in words} for one in rounds]
    return medians(numbers) | words


def main() -> None:
    """The cases were measured, each in several rounds; the medians of the rounds are reported."""
    peers = list(PEERS) if are_installed() else []
    if not peers:
        print(f"peers not installed ({INSTALL})")
    with scratch_directory() as directory:
        set_up_here(directory)
        _measure(Case(30, replay_safe=True), 0, directory, count_commits=False)
        for steps in SIZES:
            _run_case(Case(steps, replay_safe=True), directory, peers)
            _run_case(Case(steps, replay_safe=False), directory, [])


if __name__ == "__main__":
    main()
