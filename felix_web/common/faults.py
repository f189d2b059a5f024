"""Fault points: places where a process test may end this process. One function, which does nothing unless switched on.

`FELIX_FAULT` names a point, as `point` or `point:N` for the Nth time it is reached.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

_reached: Counter[str] = Counter()


def reach(point: str) -> None:
    """The process is gone, by SIGKILL, where `FELIX_FAULT` names this point; else nothing happened."""
    wanted = os.environ.get("FELIX_FAULT", "")
    if not wanted:
        return
    name, _, nth = wanted.partition(":")
    _reached[point] += 1
    if point == name and _reached[point] == int(nth or 1):
        os.kill(os.getpid(), signal.SIGKILL)
