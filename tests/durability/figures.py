"""What the kills came to: a row a kill point, printed at the end, kept in docs/durability.md."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tests.durability.harness import LEASE_SECONDS
from tests.durability.talk import ENDED, Thread

PAGE = Path(__file__).resolve().parents[2] / "docs" / "durability.md"
PROMPT_SECONDS = LEASE_SECONDS + 2
COLUMNS = (
    "killed",
    "kills",
    "duplicates",
    "losses",
    "stuck",
    "p50 s",
    "p95 s",
    f"over {PROMPT_SECONDS:g} s",
)


@dataclass
class Kill:
    """One kill and what came of one run.

    `seconds`: from the kill to the run's next event. `late_seconds`: from when its processes were
    back, which is the kill itself where another worker goes on.
    """

    point: str
    seconds: float = math.nan
    late_seconds: float = math.nan
    duplicates: int = 0
    losses: int = 0
    is_stuck: bool = True

    def measure(self, thread: Thread) -> None:
        """The row says what came of the kill on this thread."""
        felix, events = thread.felix, thread.events()
        killed_at, back_at = felix.killed_at, max(felix.killed_at, felix.restored_at)
        after = [event["ts"] / 1000 for event in events if event["ts"] / 1000 > killed_at]
        unknown = sum(event.get("status") == "interrupted" for event in events)
        wanted = sum(
            call["name"] == "write_file"
            for event in events
            if event["kind"] == "assistant_message"
            for call in event["tool_calls"]
        )
        counted = thread.effects()
        self.duplicates = sum(count - 1 for count in counted.values())
        self.losses = max(0, wanted - unknown - len(counted))
        next_at = min(after, default=math.nan)
        self.seconds, self.late_seconds = next_at - killed_at, next_at - back_at
        self.is_stuck = thread.status() not in ENDED


def percentile(values: list[float], share: float) -> float:
    """Return the smallest value that `share` of all values do not exceed; nan of none."""
    ordered = sorted(value for value in values if not math.isnan(value))
    return ordered[math.ceil(share * len(ordered)) - 1] if ordered else math.nan


@dataclass
class Ledger:
    """Every kill of a session, in the order of the points given."""

    shape: str
    kills: list[Kill] = field(default_factory=list)

    def kill(self, point: str) -> Kill:
        """Return a new entry: stuck, until the test has seen its run go on."""
        entry = Kill(point)
        self.kills.append(entry)
        return entry

    def table(self) -> str:
        """Return the rows as Markdown."""
        points: dict[str, list[Kill]] = defaultdict(list)
        for kill in self.kills:
            points[kill.point].append(kill)
        lines = ["| " + " | ".join(COLUMNS) + " |", "|---" + "|---:" * (len(COLUMNS) - 1) + "|"]
        lines += [_row(point, kills) for point, kills in sorted(points.items())]
        lines.append(_row("**all**", self.kills))
        return "\n".join(lines)


def _row(point: str, kills: list[Kill]) -> str:
    seconds = [kill.seconds for kill in kills]
    cells = [
        point,
        str(len(kills)),
        str(sum(kill.duplicates for kill in kills)),
        str(sum(kill.losses for kill in kills)),
        str(sum(kill.is_stuck for kill in kills)),
        f"{percentile(seconds, 0.5):.1f}",
        f"{percentile(seconds, 0.95):.1f}",
        str(sum(kill.late_seconds > PROMPT_SECONDS for kill in kills)),
    ]
    return "| " + " | ".join(cells) + " |"


def keep(ledger: Ledger, page: Path = PAGE) -> None:
    """The page's block of this shape holds the ledger's table.

    Raises:
        ValueError: the page has no such block.
    """
    start, end = f"<!-- kills: {ledger.shape} -->\n", "<!-- end of kills -->"
    before, found, rest = page.read_text().partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{page} needs the lines {start.strip()!r} and {end!r}")
    page.write_text(f"{before}{start}\n{ledger.table()}\n\n{end}{after}")


def repetitions() -> int:
    """Return how often each point is killed: KILLS, else 2."""
    return int(os.environ.get("KILLS") or 2)
