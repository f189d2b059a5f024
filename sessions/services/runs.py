"""The life of a run's row: claim, hold, renew, park, wake, end. Each is one conditional update.

Zero rows is an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, Now

from felix_web.tenancy.scoping import database_now
from sessions.bells import ring_run, ring_stopped, ring_thread
from sessions.core.states import RunStatus, StopReason
from sessions.models import Run
from sessions.models.run import ACTIVE

MAX_FRUITLESS_CLAIMS = 6
"""A run that was claimed so often in a row without committing anything is poisoned.

Failed, reason `dead`.
"""

STOPPED_FROM_OUTSIDE = (RunStatus.STOPPED, RunStatus.EXPIRED)
"""How a run may end while its driver is in the midst of a call."""


def claim_run(*, run_id: str, owner: str, lease_seconds: float) -> Run | None:
    """Return the run, now driven by `owner` under a new fence, or None where it is not to be had.

    To be had: queued and due, or running with a lapsed lease; and not expired.

    Locks: the run's row until the caller's transaction ends.
    """
    now = database_now()
    due = Q(status=RunStatus.QUEUED) & (Q(not_before=None) | Q(not_before__lte=now))
    lapsed = Q(status=RunStatus.RUNNING, lease_until__lt=now)
    taken = Run.objects.filter(due | lapsed, pk=run_id, expires_at__gt=now).update(
        status=RunStatus.RUNNING,
        fence=F("fence") + 1,
        lease_owner=owner,
        lease_until=now + timedelta(seconds=lease_seconds),
        fruitless_claims=F("fruitless_claims") + 1,
        # What the driver before had asked a model for, when its lease lapsed, is in no log.
        is_usage_certain=Case(
            When(status=RunStatus.RUNNING, then=Value(False)), default=F("is_usage_certain")
        ),
        started_at=Coalesce(F("started_at"), now),
        claimed_at=now,
        not_before=None,
    )
    if not taken:
        return None
    run = Run.objects.select_related("thread", "tenant").get(pk=run_id)
    ring_thread(run.thread_id)
    return run


def hold_run(*, run_id: str, fence: int, **changes: Any) -> bool:
    """Return whether the run is still driven under this fence; makes the changes where it is.

    A run past its end, by the database's clock, is not: its driver must let go, and the sweep ends
    it. The first statement of every driver's transaction.

    Locks: the run's row until the caller's transaction ends.
    """
    held = _running().filter(pk=run_id, fence=fence)
    return bool(held.update(**{"fruitless_claims": 0, **changes}))


def _running() -> QuerySet[Run]:
    """Return the runs that may be driven on; the clock is read by the statement itself."""
    return Run.objects.filter(status=RunStatus.RUNNING, expires_at__gt=Now())


def hold_stopped_run(*, run_id: str, fence: int) -> bool:
    """Return whether the run was stopped from outside under this fence, or its time is over.

    The result of a call that was going then is still taken.

    Locks: the run's row until the caller's transaction ends.
    """
    stopped = Q(status__in=STOPPED_FROM_OUTSIDE) | Q(
        status=RunStatus.RUNNING, expires_at__lte=Now()
    )
    return bool(Run.objects.filter(stopped, pk=run_id, fence=fence).update(fruitless_claims=0))


def renew_leases(*, run_ids: Sequence[str], owner: str, lease_seconds: float) -> set[str]:
    """The owner's leases last `lease_seconds` from now.

    Returns the runs that are still the owner's. One past its end is not, and is not renewed.
    """
    until = database_now() + timedelta(seconds=lease_seconds)
    _running().filter(pk__in=run_ids, lease_owner=owner).update(lease_until=until)
    return still_driven(run_ids=run_ids, owner=owner)


def still_driven(*, run_ids: Sequence[str], owner: str) -> set[str]:
    """Return those of the runs that the owner may drive on."""
    rows = _running().filter(pk__in=run_ids, lease_owner=owner)
    return set(rows.values_list("pk", flat=True))


def free_lease(
    *, run_id: str, fence: int, delay_seconds: float = 0.0, is_usage_lost: bool = False
) -> bool:
    """The run is queued again, for anybody, not before the delay.

    What a driver does that cannot go on.

    Returns False, and changes nothing, where the fence has moved.
    """
    not_before = database_now() + timedelta(seconds=delay_seconds) if delay_seconds else None
    freed = Run.objects.filter(pk=run_id, fence=fence, status=RunStatus.RUNNING).update(
        status=RunStatus.QUEUED,
        lease_owner="",
        lease_until=None,
        not_before=not_before,
        **({"is_usage_certain": False} if is_usage_lost else {}),
    )
    if freed and not delay_seconds:
        ring_run(run_id)
    return bool(freed)


def park_run(*, run_id: str, fence: int, active_ms: int) -> None:
    """The held run waits and nobody drives it.

    The caller holds its row and has seen a gate wait.
    """
    Run.objects.filter(pk=run_id, fence=fence).update(
        status=RunStatus.WAITING, lease_owner="", lease_until=None, active_ms=active_ms
    )


def wake_run(*, run_id: str) -> bool:
    """A waiting run is queued; returns False where it does not wait.

    The caller holds the run's row and has seen that nothing it waits for is left.
    """
    woken = Run.objects.filter(pk=run_id, status=RunStatus.WAITING).update(
        status=RunStatus.QUEUED, not_before=None
    )
    if woken:
        ring_run(run_id)
    return bool(woken)


def lock_run(*, run_id: str) -> Run | None:
    """Return the run with its row locked, or None where it is gone.

    Locks: the run's row (on SQLite the transaction has the database's write lock already).
    """
    return Run.objects.select_for_update().select_related(None).filter(pk=run_id).first()


def end_run(
    *,
    run_id: str,
    status: RunStatus,
    stop_reason: StopReason,
    reason: str = "",
    error: dict[str, str] | None = None,
    final: dict[str, str] | None = None,
    is_driver: bool = False,
    keeps_lease: bool = False,
    is_usage_lost: bool = False,
    **changes: Any,
) -> bool:
    """The active run is over; returns False, and changes nothing, where it was over before.

    Args:
        is_driver: The caller is the run's own driver, and need not be told.
        keeps_lease: A driver may still bring the result of a call. The lease, which nobody renews
            any more, stays in the row until the sweep has closed what the driver left open.
        is_usage_lost: A model may have used tokens that no answer reports: the totals are a part.

    Effects: rings the driver of a run that was going.
    """
    ended = Run.objects.filter(pk=run_id, status__in=ACTIVE).update(
        status=status,
        stop_reason=stop_reason,
        reason=reason,
        error=error,
        final=final,
        finished_at=database_now(),
        **({} if keeps_lease else {"lease_until": None}),
        **({"is_usage_certain": False} if is_usage_lost else {}),
        **changes,
    )
    if ended and not is_driver:
        ring_stopped(run_id)
    return bool(ended)
