"""What a benchmark prints: a small table for people, one JSON line for machines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any


@dataclass(slots=True)
class Report:
    """The figures of one benchmark, in the order in which they are added."""

    name: str
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)

    def figure(self, key: str, value: float | str, unit: str = "", note: str = "") -> None:
        """The report has a figure that nothing is claimed about."""
        self.figures[key] = value
        self.rows.append((key, _shown(value), unit, note))

    def claim(self, key: str, value: float, unit: str, *, at_most: float) -> None:
        """The report has a figure and says whether the claim about it holds."""
        holds = value <= at_most
        verdict = "met" if holds else "MISSED"
        if not holds:
            self.missed.append(key)
        self.figures[key] = value
        self.rows.append((key, _shown(value), unit, f"claim: at most {at_most:g}: {verdict}"))

    def show(self) -> None:
        """The table and the JSON line are on stdout."""
        print(f"\n== {self.name}")
        print(table(("figure", "value", "unit", ""), self.rows))
        line = {"benchmark": self.name, "missed": self.missed, **self.figures}
        print(json.dumps(line), flush=True)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as aligned columns."""
    lines = [list(head), *[list(row) for row in rows]]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share (0 to 1) of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def medians(rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the median of each figure over several rounds."""
    return {key: median(one[key] for one in rounds) for key in rounds[0]}


def _shown(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"
