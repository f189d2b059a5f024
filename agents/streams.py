"""Streams of frames for the surfaces: a run from its start, a thread from a cursor, an ended run
once more.

Every stream is an async generator of whole SSE fields, heartbeats included; it ends with `[DONE]`.
None of them holds a database connection while it waits (decisions 3.9). A first read without a
subscription says what there is, so that a stream that is never begun leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial

from agents.hub import hub
from agents.live.items import Item, Marks, run_item
from agents.live.reader import Items, Reader, refusal_item
from agents.live.reads import (
    Page,
    SnapshotRead,
    begun_row,
    read_run,
    read_snapshot,
    read_thread,
)
from agents.services.stopping import abort_run
from felix_web.common.errors import FelixError
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import tenant_snapshot
from sessions.core.frames import DONE, HEARTBEAT, Frame
from sessions.models import Run, Thread
from sessions.models.run import ACTIVE

log = logging.getLogger(__name__)

CURSOR = re.compile(r"\A[0-9]{1,18}\Z")

Fields = AsyncGenerator[bytes, None]


def cursor_of(text: str | None) -> int | None:
    """Return the cursor of a `Last-Event-ID` or a query, or None: garbage counts as absent."""
    return int(text) if text is not None and CURSOR.match(text) else None


async def begun_items(*, run: Run, principal: Principal) -> Items:
    """Yield the items of a run that was just sent: `run` before anything is read, then as
    `run_items`.
    """
    reader = _reader_of(run.pk, principal, run.thread_id, run.first_seq)
    yield reader.take([run_item(begun_row(run))])
    read = partial(read_run, tenant_id=principal.tenant_id, run_id=run.pk)
    page = await hub().bridge.run(partial(read, marks=reader.marks))
    yield reader.take_page(page)
    async with aclosing(_rest(reader, page, read)) as items:
        async for some in items:
            yield some


async def run_items(*, run_id: str, principal: Principal) -> Items:
    """Yield the items of a run from its start to its end, `run` first; those of an ended run are
    all there at once.

    Raises:
        NotFound: the tenant has no such run.
        StoreUnavailable: the database cannot be read.
    """
    read = partial(read_run, tenant_id=principal.tenant_id, run_id=run_id)
    page = await hub().bridge.run(partial(read, marks=None))
    assert page.newest is not None
    reader = _reader_of(run_id, principal, page.thread_id, page.newest.first_seq)
    yield _led(reader, page)
    async with aclosing(_rest(reader, page, read)) as items:
        async for some in items:
            yield some


def _reader_of(run_id: str, principal: Principal, thread_id: int, first_seq: int) -> Reader:
    return Reader(
        principal=principal,
        thread_id=thread_id,
        run_id=run_id,
        marks=Marks(next_seq=first_seq),
        is_run_only=True,
    )


async def _rest(reader: Reader, page: Page, read: Callable[..., Page]) -> Items:
    """Yield what stands behind a run's first page, then what comes."""
    while page.has_more:
        page = await hub().bridge.run(partial(read, marks=reader.marks))
        yield reader.take_page(page)
    if not reader.has_ended:
        async with aclosing(reader.follow()) as items:
            async for some in items:
                yield some


def _led(reader: Reader, page: Page) -> list[Item]:
    """Return what the stream sends of its first page, with the run in front."""
    lead = [] if page.newest is None else [run_item(page.newest)]
    return [*reader.take(lead), *reader.take_page(page)]


async def _fields(items: Items) -> Fields:
    """Yield items as they go out, and end the stream as one is ended."""
    try:
        async with aclosing(items) as source:
            async for some in source:
                yield b"".join(item.data for item in some) if some else HEARTBEAT
    except FelixError as error:
        yield refusal_item(error).data
    yield DONE


async def run_stream(
    *,
    run_id: str,
    principal: Principal,
    abort_on_disconnect: bool = False,
    begun: Run | None = None,
) -> Fields:
    """Yield the frames of a run from its start: `run`, all its events, gates, text, usage, its end,
    `[DONE]`.

    Args:
        begun: The run's row where the caller has just sent it: its first frame waits for no read.
        abort_on_disconnect: True stops the run when the reader goes away before its end: for a
            transient send without thread and without key, which nobody can come back for (L1).
    """
    has_left = True
    items = (
        run_items(run_id=run_id, principal=principal)
        if begun is None
        else begun_items(run=begun, principal=principal)
    )
    try:
        async with aclosing(_fields(items)) as fields:
            async for field in fields:
                if field == DONE:
                    has_left = False
                yield field
    finally:
        if has_left and abort_on_disconnect:
            hub().in_background(_abort(run_id, principal))


async def _abort(run_id: str, principal: Principal) -> None:
    try:
        await hub().bridge.run(partial(_abort_now, run_id, principal))
    except FelixError as error:
        log.warning("run_not_aborted", extra={"run_id": run_id, "error": error.code})


def _abort_now(run_id: str, principal: Principal) -> None:
    with tenant_snapshot(principal.tenant_id):
        mine = Run.objects.for_tenant(principal.tenant_id).select_related("thread")
        run = mine.filter(pk=run_id, status__in=ACTIVE).first()
    if run is not None:
        abort_run(principal=principal, thread=run.thread)


async def replay_stream(*, run_id: str, principal: Principal) -> Fields:
    """Yield the frames of an ended run, and only of it: `run`, its events, its gates as they ended,
    usage, end, `[DONE]`.

    The stream of a run that is still going would be `run_stream`; this one then ends with that run
    as well.
    """
    async with aclosing(_fields(run_items(run_id=run_id, principal=principal))) as fields:
        async for field in fields:
            yield field


async def attach_stream(
    *, thread: Thread, principal: Principal, cursor: int | None
) -> Fields | None:
    """Return a stream of the thread from the cursor on, or None (204): no run is going and nothing
    is new.

    It begins with a snapshot without a cursor, or with one that the thread has not reached; else
    with `run`, what was missed, and the gates of the run.

    Args:
        thread: Of the principal's tenant; the caller loaded it with its access checked.
        cursor: The next seq the reader wants. Use `cursor_of` for a header's text.

    Raises:
        NotFound: the thread is gone.
        StoreUnavailable: the database cannot be read.
    """
    if cursor is not None:
        read = partial(
            read_thread,
            tenant_id=principal.tenant_id,
            thread_id=thread.pk,
            marks=Marks(next_seq=cursor),
        )
        page = await hub().bridge.run(read)
        if cursor <= page.head_seq:
            return _attach_at(page, principal, cursor)
    first = await hub().bridge.run(
        partial(
            read_snapshot,
            tenant_id=principal.tenant_id,
            thread_id=thread.pk,
            principal=principal,
        )
    )
    return _fields(_from_snapshot(first, thread.pk, principal))


def _attach_at(page: Page, principal: Principal, cursor: int) -> Fields | None:
    is_going = page.newest is not None and page.newest.state.status.is_active
    if cursor == page.head_seq and not is_going:
        return None
    return _fields(_from_cursor(page, principal, cursor))


async def _from_cursor(page: Page, principal: Principal, cursor: int) -> Items:
    reader = Reader(
        principal=principal,
        thread_id=page.thread_id,
        run_id=page.newest.state.run_id if page.newest else "",
        marks=Marks(next_seq=cursor),
    )
    yield _led(reader, page)
    while page.has_more:
        page = await hub().bridge.run(
            partial(
                read_thread,
                tenant_id=principal.tenant_id,
                thread_id=page.thread_id,
                marks=reader.marks,
            )
        )
        yield reader.take_page(page)
    if page.newest is not None and not reader.has_ended:
        async with aclosing(reader.follow()) as items:
            async for some in items:
                yield some


async def _from_snapshot(first: SnapshotRead, thread_id: int, principal: Principal) -> Items:
    newest = first.newest
    reader = Reader(
        principal=principal,
        thread_id=thread_id,
        run_id=newest.state.run_id if newest else "",
        marks=first.marks,
    )
    yield reader.take_snapshot(first)
    if newest is not None and newest.state.status.is_active:
        async with aclosing(reader.follow()) as items:
            async for some in items:
                yield some


def snapshot(*, thread: Thread, principal: Principal) -> Frame:
    """Return the thread as its `snapshot` frame shows it, read at one moment. Sync; opens its own
    transaction.

    Gates are left out where the principal lacks `approvals:read`.

    Raises:
        NotFound: the thread is gone.
    """
    return read_snapshot(
        tenant_id=principal.tenant_id, thread_id=thread.pk, principal=principal
    ).frame


async def wait_for_end(*, run_id: str, principal: Principal, timeout_seconds: float) -> bool:
    """Return True once the run has ended, False when the time is over before.

    Raises:
        Unauthenticated: the credential is gone.
        NotFound: the tenant has no such run.
        StoreUnavailable: the database cannot be read.
    """
    items = run_items(run_id=run_id, principal=principal)
    try:
        async with asyncio.timeout(timeout_seconds), aclosing(items) as source:
            async for some in source:
                if any(item.is_end and item.run_id == run_id for item in some):
                    return True
    except TimeoutError:
        pass
    return False
