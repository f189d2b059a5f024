"""The log work of a durable step: commits, time beside the bare statements, growth, disk, peers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.instance import disk_bytes, operator, scratch_directory, set_up_here
from benchmarks.peers.runner import INSTALL, PEERS, are_installed, peer_figures
from benchmarks.report import Report, medians

if TYPE_CHECKING:
    from agents.services.claiming import Claimed
    from benchmarks.statements import Floor
    from benchmarks.stepping import InstantModel

ROUNDS = 5
PEER_ROUNDS = 3
NUMBERS = count()
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


async def _drive(
    case: Case, claimed: Claimed, floor: Floor | None, *, count_commits: bool
) -> tuple[InstantModel, float]:
    """Drive a claimed run to its end, each step on the floor too; returns its model and commits."""
    from agents.leases import LeaseKeeper
    from agents.runtime import ToolThreads
    from agents.store import Bridge
    from benchmarks.statements import Recorder
    from benchmarks.stepping import LEASE_SECONDS, bound, close_connection

    bridge, threads, recorder = Bridge(1), ToolThreads(4), Recorder()
    keeper = LeaseKeeper(
        owner="benchmark",
        lease_seconds=LEASE_SECONDS,
        driven=lambda: [claimed.claim.run_id],
        lost=lambda run_id: None,
    )
    keeper.start()
    run = await bound(claimed, bridge, threads, steps=case.steps, replay_safe=case.replay_safe)
    commits_at: list[int] = []

    async def between() -> None:
        commits_at.append(recorder.commits)
        step = recorder.taken()
        if step and floor:
            await floor.replay(step)

    if floor:
        run.model.between = between
        await bridge.run(recorder.install)
    if count_commits:
        await bridge.run(recorder.count_commits)
    await run.driver.drive()
    await bridge.run(close_connection)
    keeper.close()
    keeper.join()
    bridge.close()
    threads.close()
    return run.model, (commits_at[-1] - commits_at[0]) / case.steps if commits_at else 0.0


def _measure(
    case: Case, directory: Path, *, count_commits: bool = False, is_alone: bool = False
) -> dict[str, float]:
    """Return the figures of one run on a thread of its own; alone, it has no floor beside it."""
    from django.conf import settings

    from benchmarks.statements import Floor, checkpoint, copy_database
    from benchmarks.stepping import claimed_run

    number = next(NUMBERS)
    claimed = claimed_run(operator(), f"{case.name}-{number}")
    checkpoint()
    database = Path(settings.DATABASES["default"]["NAME"])
    before = disk_bytes(database)
    floor = None
    if not is_alone:
        copy = directory / f"{number}.sqlite3"
        copy_database(copy)
        floor = Floor(copy)
    model, commits = asyncio.run(_drive(case, claimed, floor, count_commits=count_commits))
    checkpoint()
    grown = (disk_bytes(database) - before) / case.steps * 1000
    figures = _figures(model) | {"commits_per_step": commits, "bytes_per_1000": grown}
    if floor is None:
        return figures
    floor.close()
    return figures | _beside(floor, model.took_ms)


def _figures(model: InstantModel) -> dict[str, float]:
    took, cpu = model.took_ms, model.cpu_ms
    return {
        "first_10_ms": median(took[:10]),
        "last_10_ms": median(took[-10:]),
        "all_ms": median(took),
        "cpu_ms": sum(cpu) / len(cpu),
        "growth": median(took[-10:]) / median(took[:10]),
        "growth_cpu": median(cpu[-10:]) / median(cpu[:10]),
    }


def _beside(floor: Floor, took: list[float]) -> dict[str, float]:
    return {
        "statements_per_step": median(floor.statements),
        "statements_of_last_step": floor.statements[-1],
        "floor_ms": median(floor.took_ms),
        "to_floor": median(took) / median(floor.took_ms),
        "total_to_floor": sum(took) / sum(floor.took_ms),
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


def _report_peers(case: Case, rounds: list[dict[str, Any]]) -> None:
    """Ratios are taken round by round, since a round's runs stand next to each other in time."""
    report = Report(f"durable_step {case.name} beside its peers")
    for name in rounds[0]:
        figures = _medians_of([one[name] for one in rounds if name in one])
        made = f"version {figures['version']}, {figures['journal']}" if name in PEERS else ""
        report.figure(f"{name}_ms", figures["all_ms"], "ms", made)
        report.figure(f"{name}_cpu_ms", figures["cpu_ms"], "ms")
        growth = figures["last_10_ms"] / figures["first_10_ms"]
        report.figure(f"{name}_growth", growth, "last 10 / first 10")
        report.figure(f"{name}_bytes_per_1000", figures["bytes_per_1000"], "bytes")
    report.claim("to_dbos", _ratio("dbos", rounds), "times", at_most=1.0)
    for name in ("dbos_wal", "langgraph", "langgraph_delta"):
        report.figure(f"to_{name}", _ratio(name, rounds), "times")
    report.show()


def _ratio(name: str, rounds: list[dict[str, Any]]) -> float:
    beside = [one for one in rounds if name in one]
    return float(median(one["felix"]["all_ms"] / one[name]["all_ms"] for one in beside))


def _medians_of(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    words = {key: value for key, value in rounds[0].items() if isinstance(value, str)}
    numbers = [{key: one[key] for key in one if key not in words} for one in rounds]
    return medians(numbers) | words


def _round(case: Case, number: int, peers: Sequence[str], directory: Path) -> dict[str, Any]:
    """Return the figures of one round: ours alone, then each peer's at once after it."""
    ours = _measure(case, directory, is_alone=True)
    # LangGraph's default writes gigabytes at a thousand steps: one round of it is enough.
    asked = [name for name in peers if number == 0 or not name.startswith("langgraph")]
    return {"felix": ours, **{name: peer_figures(name, steps=case.steps) for name in asked}}


def _run_case(case: Case, directory: Path, peers: Sequence[str]) -> None:
    commits = _measure(case, directory, count_commits=True)["commits_per_step"]
    ours = medians([_measure(case, directory) for _ in range(ROUNDS)])
    _report(case, ours | {"commits_per_step": commits})
    if peers:
        rounds = [_round(case, number, peers, directory) for number in range(PEER_ROUNDS)]
        _report_peers(case, rounds)


def main() -> None:
    """The cases were measured, each in several rounds; the medians of the rounds are reported."""
    peers = list(PEERS) if are_installed() else []
    if not peers:
        print(f"peers not installed ({INSTALL})")
    with scratch_directory() as directory:
        set_up_here(directory)
        _measure(Case(100, replay_safe=True), directory)
        for steps in SIZES:
            _run_case(Case(steps, replay_safe=True), directory, peers)
            _run_case(Case(steps, replay_safe=False), directory, [])


if __name__ == "__main__":
    main()
