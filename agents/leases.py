"""Keeps the leases of this process.

Its own thread and connection, never the loop that works (L4).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable

from django.db import Error, connection

from felix_web.tenancy.scoping import system_scope
from sessions.services.runs import renew_leases, still_driven

log = logging.getLogger(__name__)

CHECK_SECONDS = 1.0


class LeaseKeeper(threading.Thread):
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
        super().__init__(name="felix-leases", daemon=True)
        self._owner = owner
        self._lease_seconds = lease_seconds
        self._driven = driven
        self._lost = lost
        self._renewed_at = time.monotonic()
        self._closing = threading.Event()

    def run(self) -> None:
        """Keep the leases until `close`."""
        pause = min(CHECK_SECONDS, self._lease_seconds / 3)
        while not self._closing.wait(pause):
            try:
                self._look()
            except Error as error:
                log.warning("lease_not_renewed", extra={"error": type(error).__name__})
                connection.close()
        connection.close()

    def _look(self) -> None:
        run_ids = list(self._driven())
        if not run_ids:
            return
        is_due = time.monotonic() - self._renewed_at >= self._lease_seconds / 3
        with system_scope():
            if is_due:
                mine = renew_leases(
                    run_ids=run_ids, owner=self._owner, lease_seconds=self._lease_seconds
                )
            else:
                mine = still_driven(run_ids=run_ids, owner=self._owner)
        if is_due:
            self._renewed_at = time.monotonic()
        for run_id in set(run_ids) - mine:
            self._lost(run_id)

    def close(self) -> None:
        """The thread ends; leases run out by themselves."""
        self._closing.set()
