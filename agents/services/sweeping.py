"""The sweep.

What makes a lost message cost a second, and a deadline hold with nobody looking (L4, L5).
"""

from __future__ import annotations

import time
from datetime import timedelta

from django.db.models import Exists, OuterRef, Q

from agents.services.closing import close_run
from approvals.core.gate import GateStatus
from approvals.models import Gate, Grant
from approvals.services import expire_gates, wake_when_settled
from felix_web.common.doorbell import doorbell
from felix_web.tenancy.scoping import database_now, system_scope, tenant_scope
from sessions.core.states import RunStatus, StopReason
from sessions.models import IdempotencyKey, Run, Thread, ThreadKind
from sessions.models.run import ACTIVE
from sessions.services.runs import end_run, lock_run

AT_ONCE = 200
RERING_SECONDS = 10.0
EPHEMERAL_SECONDS = 3600


def sweep() -> None:
    """Deadlines that passed are settled, and every run that can be claimed has been rung for."""
    expire_due_gates()
    expire_due_runs()
    for claim in claimable_runs():
        _ring_once(claim)
    delete_swept_threads()


_rung_at: dict[tuple[str, int], float] = {}


def _ring_once(claim: tuple[str, int]) -> None:
    """Ring for a run, and not again for the same claim within `RERING_SECONDS`.

    While every worker is busy, a ring a second for each queued run would only pile up.
    """
    now = time.monotonic()
    for old in [key for key, at in _rung_at.items() if now - at > RERING_SECONDS]:
        del _rung_at[old]
    if claim not in _rung_at:
        _rung_at[claim] = now
        doorbell().run_ready(claim[0])


def claimable_runs() -> list[tuple[str, int]]:
    """Return (run, fence) of what a worker could claim now, oldest first, at most `AT_ONCE`."""
    with system_scope():
        now = database_now()
        due = Q(status=RunStatus.QUEUED) & (Q(not_before=None) | Q(not_before__lte=now))
        lapsed = Q(status=RunStatus.RUNNING, lease_until__lt=now)
        rows = Run.objects.filter(due | lapsed, expires_at__gt=now).order_by("created_at", "pk")
        return list(rows.values_list("pk", "fence")[:AT_ONCE])


def expire_due_gates() -> None:
    """Gates whose time is over are denied by time, and their runs go on."""
    with system_scope():
        due = (
            Gate.objects.filter(status=GateStatus.WAITING, expires_at__lte=database_now())
            .order_by("expires_at")
            .values_list("run_id", "tenant_id")
            .distinct()[:AT_ONCE]
        )
        runs = list(dict.fromkeys(due))
    for run_id, tenant_id in runs:
        with tenant_scope(tenant_id):
            lock_run(run_id=run_id)
            expire_gates(run_id=run_id)
            wake_when_settled(run_id=run_id)


def expire_due_runs() -> None:
    """Runs past their end that nobody drives are expired: gates withdrawn, calls closed."""
    with system_scope():
        now = database_now()
        idle = Q(status__in=[RunStatus.QUEUED, RunStatus.WAITING]) | Q(
            status=RunStatus.RUNNING, lease_until__lt=now
        )
        due = list(
            Run.objects.filter(idle, expires_at__lte=now).values_list("pk", "tenant_id")[:AT_ONCE]
        )
    for run_id, tenant_id in due:
        with tenant_scope(tenant_id):
            _expire(run_id)


def _expire(run_id: str) -> None:
    run = lock_run(run_id=run_id)
    if run is None or run.status not in ACTIVE or _is_driven(run):
        return
    text = "The run's time was over before it ended."
    ended = end_run(
        run_id=run_id,
        status=RunStatus.EXPIRED,
        stop_reason=StopReason.LIMIT,
        reason="expired",
        error={"code": "run_expired", "message": text},
    )
    if ended:
        close_run(
            run,
            because="run_expired",
            status=RunStatus.EXPIRED,
            stop_reason=StopReason.LIMIT,
            reason="expired",
        )


def _is_driven(run: Run) -> bool:
    """Return whether its lease was renewed between the look and the lock."""
    has_lease = run.lease_until is not None and run.lease_until >= database_now()
    return has_lease and run.status == RunStatus.RUNNING


def delete_swept_threads() -> None:
    """Hidden threads of requests without a thread are gone an hour after their run's end.

    One stays while a key points to its run, so that a resent message never runs twice (L10), and
    while a grant that was given there is live.
    """
    with system_scope():
        now = database_now()
        limit = now - timedelta(seconds=EPHEMERAL_SECONDS)
        keys = IdempotencyKey.objects.filter(run__thread=OuterRef("pk"), expires_at__gt=now)
        grants = Grant.objects.filter(
            gate__thread=OuterRef("pk"), revoked_at=None, expires_at__gt=now
        )
        old = (
            Thread.objects.filter(kind=ThreadKind.EPHEMERAL, updated_at__lt=limit)
            .exclude(runs__status__in=ACTIVE)
            .exclude(Exists(keys))
            .exclude(Exists(grants))
        )
        ids = list(old.values_list("pk", flat=True)[:AT_ONCE])
        Grant.objects.filter(gate__thread__in=ids).delete()
        Thread.objects.filter(pk__in=ids).delete()
