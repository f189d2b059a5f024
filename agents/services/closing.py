"""Closing calls that will never run or never answer: no transcript keeps an open one."""

from __future__ import annotations

from agents.core.tools.base import CANCELLED, INTERRUPTED
from approvals.services import withdraw_gates
from felix_web.audit.services import audit_row, record
from felix_web.tenancy.scoping import database_now
from sessions.bells import ring_thread
from sessions.core.events import EventKind, NewEvent
from sessions.core.states import CallStatus, RunStatus, StopReason
from sessions.models import Event, Run, Thread
from sessions.selectors import branch_of, open_calls
from sessions.services.log import append
from sessions.services.runs import end_run


def close_open_calls(
    *, thread_id: int, branch: int, started_too: bool = True, of_run: str | None = None
) -> list[NewEvent]:
    """Return a result for every open call of the branch's newest answer; the caller appends it.

    A call that was never started is cancelled; one that was is interrupted, its effect unknown.

    Args:
        started_too: False leaves started calls open: their driver may still bring the true result.
        of_run: Close only the calls of this run; None closes whatever is open.

    Locks: the thread's row, or the run's under its fence, held by the caller.
    """
    calls = [
        call
        for call in open_calls(branch_of(thread_id=thread_id, number=branch))
        if of_run is None or call[2] == of_run
    ]
    if not calls:
        return []
    started = set(
        Event.objects.filter(
            thread_id=thread_id,
            kind=EventKind.CALL_STARTED,
            # An id is unique within its run; another branch may hold a call of the same id.
            run_id__in={run_id for _, _, run_id in calls},
            call_id__in=[call_id for call_id, _, _ in calls],
        ).values_list("call_id", flat=True)
    )
    return [
        _closed(call_id, tool, is_started=call_id in started)
        for call_id, tool, _ in calls
        if started_too or call_id not in started
    ]


def _closed(call_id: str, tool: str, *, is_started: bool) -> NewEvent:
    status, content = (
        (CallStatus.INTERRUPTED, INTERRUPTED) if is_started else (CallStatus.CANCELLED, CANCELLED)
    )
    payload = {"tool": tool, "status": status.value, "content": content}
    return NewEvent(EventKind.TOOL_RESULT, payload, call_id=call_id)


def stop_run(
    run: Run,
    *,
    because: str,
    status: RunStatus,
    stop_reason: StopReason,
    reason: str,
    error: dict[str, str] | None = None,
    by: str = "",
) -> bool:
    """The active run is over from outside, gates withdrawn; False where it was over before.

    While it has a lease, its started calls are left to its driver, whose true results are still
    taken; once that time is over the sweep closes them.

    Locks: the run's row, held by the caller; takes the thread's.
    """
    is_driven = (
        run.status == RunStatus.RUNNING
        and run.lease_until is not None
        and run.lease_until >= database_now()
    )
    if not end_run(
        run_id=run.pk,
        status=status,
        stop_reason=stop_reason,
        reason=reason,
        error=error,
        keeps_lease=is_driven,
        is_usage_lost=_may_be_asking(run),
    ):
        return False
    close_run(
        run,
        because=because,
        status=status,
        stop_reason=stop_reason,
        reason=reason,
        is_driven=is_driven,
        by=by,
    )
    return True


def _may_be_asking(run: Run) -> bool:
    """Return whether a driver may have a request at the model: it works, and on no call."""
    if run.status != RunStatus.RUNNING:
        return False
    return not open_calls(branch_of(thread_id=run.thread_id, number=run.branch))


def close_run(
    run: Run,
    *,
    because: str,
    status: RunStatus,
    stop_reason: StopReason,
    reason: str,
    is_driven: bool = False,
    by: str = "",
) -> None:
    """What an ended run left open is closed, and its log says how it ended.

    Args:
        because: What its withdrawn gates say.
        is_driven: A driver may still bring the true result of a call it runs; such a call stays
            open.
        by: Who ended it; "" where nobody did.

    Locks: the run's row, held by the caller; takes the thread's.
    """
    ring_thread(run.thread_id)
    Thread.objects.select_for_update().get(pk=run.thread_id)
    withdraw_gates(run_id=run.pk, because=because)
    closing = close_open_calls(
        thread_id=run.thread_id, branch=run.branch, started_too=not is_driven
    )
    said = {"status": status.value, "reason": reason, "stop_reason": stop_reason.value}
    who = {"by": by} if by else {}
    append(
        tenant_id=run.tenant_id,
        thread_id=run.thread_id,
        branch=run.branch,
        leaf_epoch=run.leaf_epoch,
        run_id=run.pk,
        events=[*closing, NewEvent(EventKind.RUN_FINISHED, said | who)],
    )
    record(
        audit_row(
            tenant_id=run.tenant_id, act="run_finished", run_id=run.pk, subject=run.pk, **said
        )
    )
