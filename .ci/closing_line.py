"""Prints the sum of pytest's reports as one closing line, and exits 1 where anything failed.

Usage: closing_line.py BROKEN_STAGES REPORT.xml...
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree


def counted(report: Path) -> Counter[str]:
    """Return how many tests passed, failed or were skipped; an error counts as failed."""
    counts: Counter[str] = Counter()
    for suite in ElementTree.parse(report).iter("testsuite"):  # noqa: S314  our own report
        failed = int(suite.get("failures", "0")) + int(suite.get("errors", "0"))
        skipped = int(suite.get("skipped", "0"))
        counts["failed"] += failed
        counts["skipped"] += skipped
        counts["passed"] += max(int(suite.get("tests", "0")) - failed - skipped, 0)
    return counts


def main(broken: int, reports: list[Path]) -> int:
    """Print the line; return the exit code."""
    total: Counter[str] = Counter(failed=broken)
    for report in reports:
        if report.exists():
            total.update(counted(report))
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    sys.stdout.write(f"{total['passed']} passed, {total['failed']} failed{skipped}\n")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), [Path(name) for name in sys.argv[2:]]))
