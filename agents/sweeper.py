"""The sweep of a process that drives runs: on its own thread, so that no run can hold it up."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db import connection

from agents.engine import engine
from agents.services.sweeping import Claimable, sweep
from felix_web.common.lasting import LastingThread


class SweepThread(LastingThread):
    """Sweeps every `FELIX_SWEEP_SECONDS`, and drives here what can be claimed.

    Every worker process has one, so that neither busy slots, nor a lost scheduler, nor a lost Redis
    keeps a deadline or a run waiting. That several sweep at once costs nothing: each step is a
    conditional update, and the claim decides.
    """

    def __init__(self) -> None:
        super().__init__("felix-sweep", pause_seconds=settings.SWEEP_SECONDS)

    def turn(self) -> None:
        """Sweep once."""
        sweep(ready=drive_here)

    def ended(self) -> None:
        """Its connection is closed."""
        connection.close()


def drive_here(claims: Sequence[Claimable]) -> None:
    """As many of the runs as this process has slots for are driven by it."""
    for claim in claims[: engine().free_slots]:
        engine().submit(claim.run_id)
