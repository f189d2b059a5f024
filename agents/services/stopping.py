"""*abort* and *rewind*.

What stops a run from outside, in one transaction each (decisions 3.4, 3.10).
"""

from __future__ import annotations

from agents.services.closing import close_run
from agents.services.sending import NotAnOperator
from felix_web.audit.services import audit_row, record
from felix_web.common.errors import NotFound
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import tenant_scope
from sessions.bells import ring_thread
from sessions.core.events import EventKind, NewEvent
from sessions.core.states import RunStatus, StopReason
from sessions.models import Run, Thread
from sessions.models.run import ACTIVE
from sessions.selectors import active_run
from sessions.services.log import append
from sessions.services.runs import end_run, lock_run
from sessions.services.threads import open_branch


def abort_run(*, principal: Principal, thread: Thread) -> Run | None:
    """The thread's run is stopped and its gates are withdrawn.

    Returns it, or None where none was going.

    A call in flight may end; its result is still recorded (decisions 3.5).

    Locks: run, thread, gate.
    """
    _need_operator(principal)
    with tenant_scope(principal.tenant_id):
        run = _locked_active(thread)
        if run is None:
            return None
        _stop(run, StopReason.ABORTED, "aborted", because="run_stopped")
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
    with tenant_scope(principal.tenant_id):
        run = _locked_active(thread)
        if run is not None:
            _stop(run, StopReason.SUPERSEDED, "superseded", because="left behind by a rewind")
        locked = Thread.objects.select_for_update().get(pk=thread.pk)
        branch = open_branch(thread=locked, after_seq=after_seq)
        said = {"branch_id": branch.number, "from_seq": after_seq, "epoch": locked.leaf_epoch}
        append(
            tenant_id=principal.tenant_id,
            thread_id=thread.pk,
            branch=branch.number,
            leaf_epoch=locked.leaf_epoch,
            run_id=None,
            events=[NewEvent(EventKind.REWOUND, said)],
        )
        _audit(principal, "thread_rewound", run.pk if run else "", thread)
        ring_thread(thread.pk)
        locked.refresh_from_db()
    return locked


def _need_operator(principal: Principal) -> None:
    if not principal.may_send:
        raise NotAnOperator()


def _locked_active(thread: Thread) -> Run | None:
    """Return the thread's active run with its row locked.

    Starts over where another became active meanwhile.

    Locks: the run's row.
    """
    while True:
        seen = active_run(thread_id=thread.pk)
        if seen is None:
            return None
        run = lock_run(run_id=seen.pk)
        if run is not None and run.status in ACTIVE:
            return run
        if run is None:
            raise NotFound("There is no such thread.")


def _stop(run: Run, stop_reason: StopReason, reason: str, *, because: str) -> None:
    end_run(run_id=run.pk, status=RunStatus.STOPPED, stop_reason=stop_reason, reason=reason)
    close_run(run, because=because, status=RunStatus.STOPPED, reason=reason)


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
