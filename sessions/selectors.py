"""Reading the log."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q, QuerySet

from felix_web.common.clock import epoch_ms
from felix_web.common.errors import NotFound
from sessions.core.events import Event, EventKind
from sessions.models import Branch, Output, Run, Thread
from sessions.models import Event as EventRow
from sessions.models.run import ACTIVE

SNAPSHOT_EVENTS = 200


def core_event(row: EventRow) -> Event:
    """Return a row as the core's event."""
    return Event(
        seq=row.seq,
        branch=row.branch,
        kind=EventKind(row.kind),
        run_id=row.run_id,
        ts_ms=epoch_ms(row.at),
        payload=row.payload,
        message_id=row.message_id,
        call_id=row.call_id,
        sealed=row.sealed,
    )


def _in_ranges(ranges: Iterable[list[int | None]]) -> Q:
    where = Q(pk__in=())
    for number, low, high in ranges:
        part = Q(branch=number, seq__gte=low)
        where |= part if high is None else part & Q(seq__lte=high)
    return where


def branch_rows(branch: Branch) -> QuerySet[EventRow]:
    """Return the events a branch reads as: a few ranges of the log, unordered."""
    return EventRow.objects.filter(_in_ranges(branch.ranges), thread_id=branch.thread_id)


def branch_of(*, thread_id: int, number: int) -> Branch:
    """Return a branch of a thread by its number."""
    branch = Branch.objects.filter(thread_id=thread_id, number=number).first()
    if branch is None:
        raise NotFound("The thread has no such branch.")
    return branch


def branch_events(branch: Branch) -> list[Event]:
    """Return every event of a branch, oldest first."""
    return [core_event(row) for row in branch_rows(branch).order_by("seq")]


def newest_events(
    branch: Branch, *, limit: int = SNAPSHOT_EVENTS, before_seq: int | None = None
) -> tuple[list[Event], bool]:
    """Return the newest events of a branch, oldest first, and whether there are older ones."""
    rows = branch_rows(branch)
    if before_seq is not None:
        rows = rows.filter(seq__lt=before_seq)
    newest = list(rows.order_by("-seq")[: limit + 1])
    return [core_event(row) for row in reversed(newest[:limit])], len(newest) > limit


def events_since(*, thread_id: int, seq: int, limit: int = 1000) -> list[Event]:
    """Return the thread's events from `seq` on, of every branch, oldest first, at most `limit`."""
    rows = EventRow.objects.filter(thread_id=thread_id, seq__gte=seq).order_by("seq")[:limit]
    return [core_event(row) for row in rows]


def thread_for(*, tenant_id: int, suffix: str) -> Thread:
    """Return the tenant's thread.

    Raises:
        NotFound: the tenant has none with this id, or it was deleted.
    """
    thread = (
        Thread.objects.for_tenant(tenant_id)
        .select_related("owner__user")
        .filter(suffix=suffix, deleted_at=None)
        .first()
    )
    if thread is None:
        raise NotFound("There is no such thread.")
    return thread


def active_run(*, thread_id: int) -> Run | None:
    """Return the thread's run that has not ended, or None."""
    return Run.objects.filter(thread_id=thread_id, parent_run=None, status__in=ACTIVE).first()


def newest_run(*, thread_id: int) -> Run | None:
    """Return the thread's newest run, or None."""
    return Run.objects.filter(thread_id=thread_id).order_by("-created_at", "-id").first()


def run_by_token(*, tenant_id: int, token: str) -> Run:
    """Return the tenant's run.

    Raises:
        NotFound: the tenant has none with this token.
    """
    run = (
        Run.objects.for_tenant(tenant_id)
        .select_related("thread")
        .filter(resume_token=token)
        .first()
    )
    if run is None:
        raise NotFound("There is no such run.")
    return run


def output_window(
    *, thread_id: int, public_id: str, offset: int, limit: int
) -> tuple[str, int] | None:
    """Return (a window of a stored output of the thread, its total characters), or None."""
    output = Output.objects.filter(thread_id=thread_id, public_id=public_id).first()
    if output is None:
        return None
    return output.text[offset : offset + limit], output.total_chars


def open_calls(branch: Branch) -> list[tuple[str, str, str]]:
    """Return (call id, tool, run id) of the open calls of a branch's newest answer."""
    newest = branch_rows(branch).filter(kind=EventKind.ASSISTANT_MESSAGE).order_by("-seq").first()
    if newest is None:
        return []
    closed = set(
        branch_rows(branch)
        .filter(kind=EventKind.TOOL_RESULT, seq__gt=newest.seq)
        .values_list("call_id", flat=True)
    )
    return [
        (call["id"], call["name"], newest.run_id or "")
        for call in newest.payload.get("tool_calls", ())
        if call["id"] not in closed
    ]
