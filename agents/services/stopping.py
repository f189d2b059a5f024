"""*abort* and *rewind*.

What stops a run from outside, in one transaction each (decisions 3.4, 3.10).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from agents.services.closing import stop_run
from agents.services.sending import NotAnOperator
from felix_web.audit.services import audit_row, record
from felix_web.common.errors import NotFound
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import tenant_scope
from sessions.bells import ring_thread
from sessions.core.events import EventKind, NewEvent
from sessions.core.states import RunStatus, StopReason
from sessions.models import Run, Thread
from sessions.selectors import active_run
from sessions.services.log import append
from sessions.services.runs import lock_run
from sessions.services.threads import open_branch

T = TypeVar("T")


def abort_run(*, principal: Principal, thread: Thread) -> Run | None:
    """The thread's run is stopped and its gates are withdrawn.

    Returns it, or None where none was going.

    A call in flight may end; its result is still recorded (decisions 3.5).

    Locks: run, thread, gate.
    """
    _need_operator(principal)
    return _with_active(principal, thread, partial(_abort, principal))


def _abort(principal: Principal, run: Run | None, thread: Thread) -> Run | None:
    if run is None:
        return None
    _stop(run, StopReason.ABORTED, "aborted", because="run_stopped", by=principal.name)
    _audit(principal, "run_aborted", run.pk, thread)
    run.refresh_from_db()
    return run


def rewind(*, principal: Principal, thread: Thread, after_seq: int) -> Thread:
    """The thread goes on from behind the event; a run that was going is stopped as superseded (L9).

    Args:
        after_seq: The last event kept; -1 keeps none.

    Raises:
        UnknownEvent: the active branch has no such event; nothing was written.

    Locks: run, thread, gate.
    """
    _need_operator(principal)
    return _with_active(principal, thread, partial(_rewind, principal, after_seq))


def _rewind(principal: Principal, after_seq: int, run: Run | None, thread: Thread) -> Thread:
    if run is not None:
        because = "left behind by a rewind"
        _stop(run, StopReason.SUPERSEDED, "superseded", because=because, by=principal.name)
        thread.refresh_from_db()
    branch = open_branch(thread=thread, after_seq=after_seq)
    said = {"branch_id": branch.number, "from_seq": after_seq, "epoch": thread.leaf_epoch}
    append(
        tenant_id=principal.tenant_id,
        thread_id=thread.pk,
        branch=branch.number,
        leaf_epoch=thread.leaf_epoch,
        run_id=None,
        events=[NewEvent(EventKind.REWOUND, said)],
    )
    _audit(principal, "thread_rewound", run.pk if run else "", thread)
    ring_thread(thread.pk)
    thread.refresh_from_db()
    return thread


def _need_operator(principal: Principal) -> None:
    if not principal.may_send:
        raise NotAnOperator()


def _with_active(
    principal: Principal, thread: Thread, work: Callable[[Run | None, Thread], T]
) -> T:
    """Return what the work returns: one transaction, with the active run, if any, and the thread.

    A send may make another run active after the look and before the thread is locked. Then it
    starts over in a new transaction, since a run is never locked after its thread.

    Locks: the run's row, then the thread's.
    """
    while True:
        with tenant_scope(principal.tenant_id):
            seen = active_run(thread_id=thread.pk)
            run = lock_run(run_id=seen.pk) if seen is not None else None
            locked = Thread.objects.select_for_update().filter(pk=thread.pk).first()
            if locked is None:
                raise NotFound("There is no such thread.")
            if active_run(thread_id=thread.pk) == run:
                return work(run, locked)


def _stop(run: Run, stop_reason: StopReason, reason: str, *, because: str, by: str) -> None:
    stop_run(
        run,
        because=because,
        status=RunStatus.STOPPED,
        stop_reason=stop_reason,
        reason=reason,
        by=by,
    )


def _audit(principal: Principal, act: str, run_id: str, thread: Thread) -> None:
    record(
        audit_row(
            tenant_id=principal.tenant_id,
            act=act,
            actor=principal.name,
            run_id=run_id,
            subject=thread.suffix,
        )
    )
