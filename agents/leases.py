"""Keeps the leases of this process.

Its own thread and connection, never the loop that works (L4).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable

from django.db import Error, connection

from felix_web.common.lasting import LastingThread
from felix_web.tenancy.scoping import system_scope, system_snapshot
from sessions.services.runs import renew_leases, still_driven

log = logging.getLogger(__name__)

CHECK_SECONDS = 1.0


class LeaseKeeper(LastingThread):
    """Renews every third of a lease, and looks every second which runs are still its own.

    Args:
        driven: Returns the runs driven now.
        lost: Called, on this thread, with each run that is not this process's any more.
    """

    def __init__(
        self,
        *,
        owner: str,
        lease_seconds: float,
        driven: Callable[[], Iterable[str]],
        lost: Callable[[str], None],
    ) -> None:
        super().__init__("felix-leases", pause_seconds=min(CHECK_SECONDS, lease_seconds / 3))
        self._owner = owner
        self._lease_seconds = lease_seconds
        self._driven = driven
        self._lost = lost
        self._renewed_at = time.monotonic()

    def turn(self) -> None:
        """Renew the leases that are due, or look which runs are still this process's own."""
        try:
            self._look()
        except Error as error:
            log.warning("lease_not_renewed", extra={"error": type(error).__name__})
            connection.close()

    def ended(self) -> None:
        """Leases run out by themselves."""
        connection.close()

    def _look(self) -> None:
        run_ids = list(self._driven())
        if not run_ids:
            return
        is_due = time.monotonic() - self._renewed_at >= self._lease_seconds / 3
        mine = self._renewed(run_ids) if is_due else self._mine(run_ids)
        for run_id in set(run_ids) - mine:
            self._lost(run_id)

    def _renewed(self, run_ids: list[str]) -> set[str]:
        with system_scope():
            mine = renew_leases(
                run_ids=run_ids, owner=self._owner, lease_seconds=self._lease_seconds
            )
        self._renewed_at = time.monotonic()
        return mine

    def _mine(self, run_ids: list[str]) -> set[str]:
        with system_snapshot():
            return still_driven(run_ids=run_ids, owner=self._owner)
