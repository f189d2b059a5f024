"""Appending to the log: the one statement that gives places, and the rows that take them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import connection
from django.utils import timezone

from felix_web.common.clock import epoch_ms
from felix_web.tenancy.rows import insert_rows
from sessions.core.events import Event, NewEvent
from sessions.models import Event as EventRow

PLACES = """
UPDATE agent_sessions_thread
   SET head_seq = head_seq + %s,
       leaf_seq = CASE WHEN leaf_epoch = %s AND active_branch = %s
                       THEN head_seq + %s - 1 ELSE leaf_seq END,
       updated_at = %s
 WHERE id = %s
RETURNING head_seq
"""


def append(
    *,
    tenant_id: int,
    thread_id: int,
    branch: int,
    leaf_epoch: int,
    run_id: str | None,
    events: Sequence[NewEvent],
    origin: str = "",
) -> list[Event]:
    """The events stand on the branch, in this order; returns them with their places.

    The thread's leaf moves only where no rewind or fork came after `leaf_epoch` (L9).

    Locks: the thread's row, until the caller's transaction ends; the caller holds the run's row
        before it.
    """
    if not events:
        return []
    now = timezone.now()
    first = _take_places(
        thread_id, branch=branch, leaf_epoch=leaf_epoch, count=len(events), now=now
    )
    placed = [
        Event(
            seq=first + offset,
            branch=branch,
            kind=event.kind,
            run_id=run_id,
            ts_ms=epoch_ms(now),
            payload=event.payload,
            message_id=event.message_id,
            call_id=event.call_id,
            sealed=event.sealed,
        )
        for offset, event in enumerate(events)
    ]
    insert_rows([_row(event, tenant_id, thread_id, origin, now) for event in placed])
    return placed


def _take_places(thread_id: int, *, branch: int, leaf_epoch: int, count: int, now: datetime) -> int:
    """Return the first of so many places, which nobody else has from now on."""
    # A raw statement's datetime would be stored otherwise than the ORM stores and compares it.
    moment = connection.ops.adapt_datetimefield_value(now)
    with connection.cursor() as cursor:
        cursor.execute(PLACES, [count, leaf_epoch, branch, count, moment, thread_id])
        head: int = cursor.fetchone()[0]
    return head - count


def _row(event: Event, tenant_id: int, thread_id: int, origin: str, now: datetime) -> EventRow:
    return EventRow(
        tenant_id=tenant_id,
        thread_id=thread_id,
        seq=event.seq,
        branch=event.branch,
        run_id=event.run_id,
        origin=origin,
        kind=event.kind.value,
        message_id=event.message_id,
        call_id=event.call_id,
        payload=event.payload,
        sealed=event.sealed,
        at=now,
    )
