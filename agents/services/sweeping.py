"""The sweep.

What makes a lost message cost a second, and a deadline hold with nobody looking (L4, L5). It looks
without any lock, and takes one for each thing it then finds to do; any number of processes may
sweep at once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import NamedTuple, TypeVar

from django.db import Error, connection
from django.db.models import Q

from agents.core.executing import GRACE_SECONDS
from agents.services.claiming import has_authority, stop_for_want_of_authority
from agents.services.closing import close_open_calls, stop_run
from agents.services.tidying import delete_lapsed_keys, delete_swept_threads
from approvals.core.gate import GateStatus
from approvals.models import Gate
from approvals.services import expire_gates, wake_when_settled
from felix_web.common.doorbell import doorbell
from felix_web.tenancy.auth import keys_that_may_not_send, members_who_may_not_send
from felix_web.tenancy.scoping import database_now, system_snapshot, tenant_scope
from sessions.bells import ring_thread
from sessions.core.states import RunStatus, StopReason
from sessions.models import Run, Thread
from sessions.models.run import ACTIVE
from sessions.services.log import append
from sessions.services.runs import STOPPED_FROM_OUTSIDE, lock_run

log = logging.getLogger(__name__)
T = TypeVar("T")

AT_ONCE = 200
RERING_SECONDS = 10.0


class Owned(NamedTuple):
    """A run and its tenant."""

    run_id: str
    tenant_id: int


class Claimable(NamedTuple):
    """A run that a worker could claim, and the fence it has now."""

    run_id: str
    fence: int


def sweep(ready: Callable[[Sequence[Claimable]], None] | None = None) -> None:
    """Deadlines that passed are settled, runs that nobody may drive have ended, and every run that
    can be claimed was handed on.

    What fails is logged, and holds up nothing else.

    Args:
        ready: Takes the runs that can be claimed; None rings for each of them.
    """
    expire_due_gates()
    expire_due_runs()
    stop_orphaned_runs()
    close_abandoned_calls()
    _guarded("claims", lambda: (ready or ring_each)(claimable_runs()))
    _guarded("keys", delete_lapsed_keys)
    _guarded("threads", delete_swept_threads)


def _each(what: str, find: Callable[[], Iterable[T]], settle: Callable[[T], None]) -> None:
    """Everything found is settled, each in a transaction of its own."""

    def settle_all() -> None:
        for item in find():
            _guarded(what, partial(settle, item))

    _guarded(what, settle_all)


def _guarded(what: str, work: Callable[[], None]) -> None:
    """The work is done, or the log says why not: one bad row must not stop every later deadline."""
    try:
        work()
    except Error as error:
        log.warning("sweep_failed", extra={"what": what, "error": type(error).__name__})
        if not connection.in_atomic_block:
            connection.close()
    except Exception as error:
        log.exception("sweep_failed", extra={"what": what, "error": type(error).__name__})


_rung_at: dict[Claimable, float] = {}


def ring_each(claims: Sequence[Claimable]) -> None:
    """Each was rung for, but not again for the same claim within `RERING_SECONDS`.

    While every worker is busy, a ring a second for each queued run would only pile up.
    """
    now = time.monotonic()
    for old in [key for key, at in _rung_at.items() if now - at > RERING_SECONDS]:
        del _rung_at[old]
    for claim in claims:
        if claim not in _rung_at:
            _rung_at[claim] = now
            doorbell().run_ready(claim.run_id)


def claimable_runs() -> list[Claimable]:
    """Return what a worker could claim now, oldest first, at most `AT_ONCE`."""
    with system_snapshot():
        now = database_now()
        due = Q(status=RunStatus.QUEUED) & (Q(not_before=None) | Q(not_before__lte=now))
        lapsed = Q(status=RunStatus.RUNNING, lease_until__lt=now)
        rows = Run.objects.filter(due | lapsed, expires_at__gt=now).order_by("created_at", "pk")
        return [Claimable(*row) for row in rows.values_list("pk", "fence")[:AT_ONCE]]


def expire_due_gates() -> None:
    """Gates whose time is over are denied by time, and their runs go on."""
    _each("gates", _runs_with_due_gates, _expire_gates)


def _runs_with_due_gates() -> list[Owned]:
    with system_snapshot():
        due = (
            Gate.objects.filter(status=GateStatus.WAITING, expires_at__lte=database_now())
            .order_by("expires_at")
            .values_list("run_id", "tenant_id")
            .distinct()[:AT_ONCE]
        )
        return [Owned(*row) for row in dict.fromkeys(due)]


def _expire_gates(run: Owned) -> None:
    with tenant_scope(run.tenant_id):
        lock_run(run_id=run.run_id)
        expire_gates(run_id=run.run_id)
        wake_when_settled(run_id=run.run_id)


def expire_due_runs() -> None:
    """Runs past their end are expired: gates withdrawn, calls closed, their drivers told."""
    _each("expired_runs", _due_runs, _expire_run)


def _due_runs() -> list[Owned]:
    with system_snapshot():
        due = Run.objects.filter(status__in=ACTIVE, expires_at__lte=database_now())
        return _owned(due.values_list("pk", "tenant_id")[:AT_ONCE])


def _owned(rows: Iterable[tuple[str, int]]) -> list[Owned]:
    return [Owned(*row) for row in rows]


def _expire_run(due: Owned) -> None:
    with tenant_scope(due.tenant_id):
        run = lock_run(run_id=due.run_id)
        if run is None or run.status not in ACTIVE:
            return
        stop_run(
            run,
            because="run_expired",
            status=RunStatus.EXPIRED,
            stop_reason=StopReason.LIMIT,
            reason="expired",
            error={
                "code": "run_expired",
                "message": "The run's time was over before it ended.",
            },
        )


def stop_orphaned_runs() -> None:
    """Runs whose starter has left, or may not start runs any more, are stopped and their gates
    withdrawn (decisions 3.11).
    """
    _each("authority", _orphaned_runs, _stop_orphan)


def _orphaned_runs() -> list[Owned]:
    with system_snapshot():
        members = Q(key=None, member__in=members_who_may_not_send())
        keys = Q(key__in=keys_that_may_not_send(database_now()))
        rows = Run.objects.filter(members | keys, status__in=ACTIVE)
        return _owned(rows.values_list("pk", "tenant_id")[:AT_ONCE])


def _stop_orphan(orphan: Owned) -> None:
    with tenant_scope(orphan.tenant_id):
        run = lock_run(run_id=orphan.run_id)
        if run is not None and run.status in ACTIVE and not has_authority(run):
            stop_for_want_of_authority(run)


def close_abandoned_calls() -> None:
    """What the driver of a stopped run left open is closed: interrupted, effect unknown.

    Its driver has had its lease and the grace of a call. A result that still comes goes to the
    audit (decisions 3.5).
    """
    _each("calls", _abandoned_runs, _close_abandoned)


def _abandoned_runs() -> list[Owned]:
    with system_snapshot():
        limit = database_now() - timedelta(seconds=GRACE_SECONDS)
        rows = Run.objects.filter(status__in=STOPPED_FROM_OUTSIDE, lease_until__lt=limit)
        return _owned(rows.values_list("pk", "tenant_id")[:AT_ONCE])


def _close_abandoned(abandoned: Owned) -> None:
    with tenant_scope(abandoned.tenant_id):
        run = lock_run(run_id=abandoned.run_id)
        if run is None or run.status not in STOPPED_FROM_OUTSIDE:
            return
        Thread.objects.select_for_update().get(pk=run.thread_id)
        append(
            tenant_id=run.tenant_id,
            thread_id=run.thread_id,
            branch=run.branch,
            leaf_epoch=run.leaf_epoch,
            run_id=run.pk,
            events=close_open_calls(thread_id=run.thread_id, branch=run.branch, of_run=run.pk),
        )
        Run.objects.filter(pk=run.pk).update(lease_until=None)
        ring_thread(run.thread_id)
