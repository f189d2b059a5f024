"""Fault points: places where a process test may end this process.

One function, which does nothing unless switched on.

`FELIX_FAULT` names a point, as `point` or `point:N` for the Nth time it is reached. `@path` names a
file that holds such a text: while it exists, a process that is going already can be armed.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

_reached: Counter[str] = Counter()


def reach(point: str) -> None:
    """The process is gone, by SIGKILL, where `FELIX_FAULT` names this point.

    Else nothing happened.
    """
    wanted = os.environ.get("FELIX_FAULT", "")
    if wanted.startswith("@"):
        wanted = _armed(Path(wanted[1:]))
    name, _, nth = wanted.partition(":")
    if point != name:
        return
    _reached[wanted] += 1
    if _reached[wanted] == int(nth or 1):
        os.kill(os.getpid(), signal.SIGKILL)


def _armed(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""
