"""The Doorbell: says "look", never what there is to see.

A lost ring costs latency, a repeated one nothing.
"""

from __future__ import annotations

from typing import Protocol


class Doorbell(Protocol):
    """Rings after a commit. Each method returns at once and never raises."""

    def run_ready(self, run_id: str) -> None:
        """A run can be claimed."""

    def run_stopped(self, run_id: str) -> None:
        """A run that may be driven just now was stopped."""

    def thread_changed(self, thread_id: int) -> None:
        """The thread has new events, or its run or a gate changed."""


class SilentDoorbell:
    """Rings nowhere: commands that do not run beside a worker.

    Sweeps and polls find what happened.
    """

    def run_ready(self, run_id: str) -> None:
        """Nobody is told."""

    def run_stopped(self, run_id: str) -> None:
        """Nobody is told."""

    def thread_changed(self, thread_id: int) -> None:
        """Nobody is told."""


_installed: list[Doorbell] = [SilentDoorbell()]


def install_doorbell(doorbell: Doorbell) -> None:
    """Every ring of this process goes to this doorbell."""
    _installed[0] = doorbell


def doorbell() -> Doorbell:
    """Return the doorbell of this process."""
    return _installed[0]
