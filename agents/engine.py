"""The engine of a worker process.

One loop thread that drives every run of the process (decisions 3.7).
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache, partial

from django.conf import settings
from django.db import connection

from agents.core.driver import Driver
from agents.core.loop import Finish
from agents.core.store import LeaseLost
from agents.deltas import Publish
from agents.leases import LeaseKeeper
from agents.profiles import is_scripted
from agents.runtime import ToolThreads, Workbench, driver_for
from agents.services import driving
from agents.services.claiming import Claimed, take_run
from agents.store import Bridge, StoreUnavailable
from felix_web.common.errors import FelixError
from felix_web.common.lasting import let_go, watch
from felix_web.tenancy.scoping import tenant_scope
from sessions.core.states import RunStatus, StopReason
from sessions.services.runs import free_lease

log = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
SHUTDOWN_SECONDS = 10.0


@dataclass(slots=True)
class _Driven:
    """A run under way: its task, whether it is claimed by now, and its driver once it is built."""

    task: asyncio.Task[None]
    is_claimed: bool = False
    driver: Driver | None = None

    @property
    def may_be_asking(self) -> bool:
        """True where the driver, as it broke off, may have had a request at the model."""
        return self.driver is not None and not self.driver.view.open_calls


class Engine:
    """Drives runs. `submit` may be called from any thread.

    Args:
        publish: Where text goes while a model writes it.
    """

    def __init__(self, *, publish: Publish) -> None:
        self.owner = f"{socket.gethostname()[:24]}:{os.getpid()}:{secrets.token_hex(6)}"
        writers = 1 if connection.vendor == "sqlite" else 4
        self._bench = Workbench(Bridge(writers), ToolThreads(settings.WORKER_SLOTS), publish)
        self._driven: dict[str, _Driven] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closing = False
        self._closed = threading.Event()
        # Guards the order of submitting and closing: what came first is wound down with the rest.
        self._door = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="felix-engine", daemon=True)
        self._leases = LeaseKeeper(
            owner=self.owner,
            lease_seconds=settings.LEASE_SECONDS,
            driven=self._claimed_runs,
            lost=self.stop,
        )

    def start(self) -> None:
        """The loop and the lease keeper run."""
        self._thread.start()
        watch(self._thread)
        self._leases.start()

    def _claimed_runs(self) -> list[str]:
        # On the lease keeper's thread: the copy is made in one step, before anything is looked at.
        return [run_id for run_id, driven in list(self._driven.items()) if driven.is_claimed]

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    @property
    def free_slots(self) -> int:
        """How many more runs this process may drive."""
        return max(0, settings.WORKER_SLOTS - len(self._driven))

    def submit(self, run_id: str) -> Future[None]:
        """Drive the run if it is to be had.

        The future ends when the run is parked, over, or somebody else's; at once while closing.
        """
        with self._door:
            if not self._is_closing:
                return asyncio.run_coroutine_threadsafe(self._drive(run_id), self._loop)
        refused: Future[None] = Future()
        refused.set_result(None)
        return refused

    def stop(self, run_id: str) -> None:
        """A driver of the run, if this process has one, ends.

        The run was stopped, or is another's.
        """
        with self._door:
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._cancel, run_id)

    def _cancel(self, run_id: str) -> None:
        driven = self._driven.get(run_id)
        if driven is not None and driven.is_claimed:
            driven.task.cancel()

    async def _drive(self, run_id: str) -> None:
        task = asyncio.current_task()
        assert task is not None
        if not self._is_free_for(run_id):
            return
        # Reserved before anything is waited for: a second ring for the run ends above.
        driven = self._driven[run_id] = _Driven(task)
        self._tasks.add(task)
        try:
            claimed = await self._claim(run_id)
            if claimed is not None and self._is_closing:
                await self._free(claimed, 0.0)
            elif claimed is not None:
                driven.is_claimed = True
                await self._drive_claimed(claimed, driven)
        finally:
            del self._driven[run_id]
            self._tasks.discard(task)

    def _is_free_for(self, run_id: str) -> bool:
        return not self._is_closing and run_id not in self._driven

    async def _claim(self, run_id: str) -> Claimed | None:
        take = partial(
            take_run, run_id=run_id, owner=self.owner, lease_seconds=settings.LEASE_SECONDS
        )
        try:
            return await self._bench.bridge.run(take)
        except StoreUnavailable:
            return None

    async def _drive_claimed(self, claimed: Claimed, driven: _Driven) -> None:
        run_id = claimed.claim.run_id
        try:
            driven.driver = await driver_for(claimed, self._bench)
            driven.driver.is_closing = self._is_closing
            await driven.driver.drive()
            if driven.driver.is_closing:
                await self._free(claimed, 0.0)
        except LeaseLost:
            log.info("lease_lost", extra={"run_id": run_id})
        except StoreUnavailable:
            log.warning("run_left_to_sweep", extra={"run_id": run_id})
        except asyncio.CancelledError:
            log.info("driver_cancelled", extra={"run_id": run_id})
            if self._is_closing:
                await self._free(claimed, 0.0, is_usage_lost=driven.may_be_asking)
        except FelixError as error:
            await self._fail(claimed, error)
        except Exception as error:
            log.exception("driver_failed", extra={"run_id": run_id, "error": type(error).__name__})
            await self._free(claimed, RETRY_SECONDS, is_usage_lost=driven.may_be_asking)

    async def _fail(self, claimed: Claimed, error: FelixError) -> None:
        """The run has failed: its manifest or its model cannot be used here."""
        log.error("run_not_built", extra={"run_id": claimed.claim.run_id, "error": error.code})
        end = Finish(RunStatus.FAILED, StopReason.ERROR, error.code, error.message)
        work = partial(
            driving.finish, claimed.claim, end, final_text="", active_ms=claimed.run.active_ms
        )
        try:
            await self._bench.bridge.run(work)
        except (LeaseLost, StoreUnavailable):
            log.warning("run_left_to_sweep", extra={"run_id": claimed.claim.run_id})

    async def _free(
        self, claimed: Claimed, delay_seconds: float, *, is_usage_lost: bool = False
    ) -> None:
        free = partial(_free_claim, claimed, delay_seconds, is_usage_lost)
        try:
            await self._bench.bridge.run(free)
        except StoreUnavailable:
            log.warning("run_left_to_sweep", extra={"run_id": claimed.claim.run_id})

    def close(self) -> None:
        """No run is claimed any more; those under way end their step, and their leases are free.

        A step that takes longer than `SHUTDOWN_SECONDS` is cancelled. A second call waits for the
        first: the interpreter must not end before, since it takes no work of threads any more.
        """
        with self._door:
            is_first, self._is_closing = not self._is_closing, True
        if is_first:
            self._close()
            self._closed.set()
        else:
            self._closed.wait(SHUTDOWN_SECONDS + 15)

    def _close(self) -> None:
        closing = asyncio.run_coroutine_threadsafe(self._wind_down(), self._loop)
        closing.result(timeout=SHUTDOWN_SECONDS + 10)
        self._leases.close()
        let_go(self._thread)
        self._bench.threads.close()
        self._bench.bridge.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)
        with self._door:
            if not self._thread.is_alive():
                self._loop.close()

    async def _wind_down(self) -> None:
        for driven in self._driven.values():
            if driven.driver is not None:
                driven.driver.is_closing = True
        if not self._tasks:
            return
        _, slow = await asyncio.wait(set(self._tasks), timeout=SHUTDOWN_SECONDS)
        for task in slow:
            task.cancel()
        if slow:
            await asyncio.wait(slow, timeout=5)


def _free_claim(claimed: Claimed, delay_seconds: float, is_usage_lost: bool) -> None:
    claim = claimed.claim
    with tenant_scope(claim.tenant_id):
        free_lease(
            run_id=claim.run_id,
            fence=claim.fence,
            delay_seconds=delay_seconds,
            is_usage_lost=is_usage_lost,
        )


def _warm() -> None:
    """The model's SDK is imported: half a second that the first run does not have to wait for."""
    import openai  # noqa: F401


@cache
def engine() -> Engine:
    """Return this process's engine, started."""
    from agents.doorbells import publisher

    made = Engine(publish=publisher())
    made.start()
    if not is_scripted():
        threading.Thread(target=_warm, name="felix-warming", daemon=True).start()
    return made
