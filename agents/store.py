"""The Store port on the tables: the one bridge between the driver's loop and the database.

Whole operations run in a private executor whose threads keep their connections open; single queries
never cross.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from agents.core.limits import Limits
from agents.core.loop import Finish
from agents.core.store import CallClosed, Loaded, Metered, Start
from agents.services import driving
from agents.services.claiming import Claimed, load_run
from approvals.core.gate import GateDraft, GateView
from approvals.selectors import gates_of_run
from felix_web.common.errors import FelixError, Unavailable
from felix_web.tenancy.scoping import tenant_snapshot
from sessions.core.events import Event, NewEvent

log = logging.getLogger(__name__)
T = TypeVar("T")

FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 2.0


class StoreUnavailable(Unavailable):
    """The database cannot be reached, is locked, or is full.

    `may_pass` is False where it refused the statement itself: to send it again is of no use.
    """

    code = "store_unavailable"
    may_pass = True


class Bridge:
    """Runs database work of a loop on threads of its own.

    Args:
        threads: 4 on PostgreSQL; on SQLite 1 for its one writer.
    """

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="felix-store")

    async def run(self, work: Callable[[], T]) -> T:
        """Return what the work returns.

        Raises:
            StoreUnavailable: the database refused or could not be reached; the transaction was
                undone.
        """
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(_guarded, work))

    def post(self, work: Callable[[], object]) -> None:
        """The work is done soon, with nobody waiting; the log says where it could not be."""
        try:
            self._pool.submit(_unattended, work)
        except RuntimeError:  # the pool is closed: the process ends
            log.warning("work_not_done", extra={"error": "closing"})

    def close(self) -> None:
        """No more work is taken; work under way ends first."""
        self._pool.shutdown(wait=True)


def _guarded(work: Callable[[], T]) -> T:
    try:
        return work()
    except (DatabaseError, InterfaceError) as error:
        log.error("store_unavailable", extra={"error": type(error).__name__})
        connection.close()
        unavailable = StoreUnavailable("The database did not take a step of the run.")
        unavailable.may_pass = isinstance(error, OperationalError | InterfaceError)
        raise unavailable from None


def _unattended(work: Callable[[], object]) -> None:
    try:
        _guarded(work)
    except FelixError as error:
        log.warning("work_not_done", extra={"error": error.code})


class ClaimedStore:
    """The log of one claimed run; see `agents.core.store.Store` for what each method does."""

    def __init__(
        self, *, bridge: Bridge, claimed: Claimed, limits: Limits, shares_files: bool = False
    ) -> None:
        self._bridge = bridge
        self._claimed = claimed
        self._claim = claimed.claim
        self._limits = limits
        self._shares_files = shares_files
        self.final_text: Callable[[], str] = str
        self.active_ms: Callable[[], int] = int
        self.is_usage_lost: Callable[[], bool] = bool

    async def load(self) -> Loaded:
        """See Store.load."""
        work = partial(
            load_run, claimed=self._claimed, limits=self._limits, shares_files=self._shares_files
        )
        return await self._bridge.run(work)

    async def answer(
        self, message: NewEvent, metered: Metered, starts: Sequence[Start] = ()
    ) -> list[Event]:
        """See Store.answer."""
        return await self._bridge.run(
            partial(driving.answer, self._claim, message, metered, starts)
        )

    async def ask(self, drafts: Sequence[GateDraft]) -> list[GateView]:
        """See Store.ask."""
        await self._bridge.run(partial(driving.ask, self._claim, drafts))
        return await self.gates()

    async def gates(self) -> list[GateView]:
        """See Store.gates."""
        return await self._bridge.run(self._read_gates)

    def _read_gates(self) -> list[GateView]:
        with tenant_snapshot(self._claim.tenant_id):
            return gates_of_run(run_id=self._claim.run_id)

    async def park(self) -> bool:
        """See Store.park."""
        return await self._bridge.run(
            partial(driving.park, self._claim, active_ms=self.active_ms())
        )

    async def start(self, start: Start) -> list[Event]:
        """See Store.start."""
        return await self._bridge.run(partial(driving.start, self._claim, start))

    async def result(
        self, closed: Sequence[CallClosed], starts: Sequence[Start] = ()
    ) -> list[Event]:
        """See Store.result.

        What a call did is not asked of it again, so that its result is brought again and again,
        until the database takes it, or the run is another's. A driver that is told to end leaves it
        behind to be recorded.
        """
        try:
            return await self._brought(closed, starts)
        except asyncio.CancelledError:
            self.bring_late(closed)
            raise

    async def _brought(self, closed: Sequence[CallClosed], starts: Sequence[Start]) -> list[Event]:
        pause, is_repeated = FIRST_PAUSE_SECONDS, False
        while True:
            work = partial(driving.result, self._claim, closed, starts, is_repeated=is_repeated)
            try:
                return await self._bridge.run(work)
            except StoreUnavailable as error:
                if not error.may_pass:
                    raise
            await asyncio.sleep(pause)
            pause, is_repeated = min(2 * pause, LONGEST_PAUSE_SECONDS), True

    def bring_late(self, closed: Sequence[CallClosed]) -> None:
        """See Store.bring_late."""
        self._bridge.post(partial(driving.result, self._claim, closed, (), is_repeated=True))

    async def finish(self, end: Finish) -> None:
        """See Store.finish."""
        work = partial(
            driving.finish,
            self._claim,
            end,
            final_text=self.final_text(),
            active_ms=self.active_ms(),
            is_usage_lost=self.is_usage_lost(),
        )
        await self._bridge.run(work)
