"""Writes the generated parts of the documentation: the table of variables in README.md."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from felix_web.variables import markdown_table  # noqa: E402

START = "<!-- variables: written by make docs -->\n"
END = "<!-- end of variables -->"


def with_table(readme: str) -> str:
    """Return the README with today's table between its two markers.

    Raises:
        ValueError: a marker is missing; put both where the table belongs.
    """
    before, start, rest = readme.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"README.md needs the lines {START.strip()!r} and {END!r}")
    return f"{before}{start}\n{markdown_table()}\n{end}{after}"


if __name__ == "__main__":
    path = ROOT / "README.md"
    path.write_text(with_table(path.read_text("utf-8")), "utf-8")
