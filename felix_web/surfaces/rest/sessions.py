"""`/api/chat/sessions` and `/api/chat/history`: threads, and what happened on them."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from agents.selectors import threads_page
from agents.streams import snapshot
from felix_web.surfaces.auth import caller
from felix_web.surfaces.database import in_database
from felix_web.surfaces.rest.answers import HistoryOut, ListOut, ProblemOut, ThreadOut
from felix_web.surfaces.rest.cursors import cursor_of, listed, numbered_place_of, page_of
from felix_web.surfaces.rest.translate import answer, thread_json
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import tenant_snapshot
from sessions.core.frames import event_frame
from sessions.selectors import branch_of, newest_events, thread_for
from sessions.services.threads import check_thread_id

MOST_EVENTS = 1_000

router = Router(tags=["sessions"])

Limit = Annotated[int, Query(ge=1, le=200)]
Window = Annotated[int, Query(ge=1, le=MOST_EVENTS)]
Seq = Annotated[int | None, Query(ge=0, le=9_007_199_254_740_991)]


@router.get("/sessions", response={200: ListOut[ThreadOut], 400: ProblemOut})
@router.get("/sessions/", include_in_schema=False)
async def list_threads(
    request: HttpRequest, limit: Limit = 50, cursor: str | None = None
) -> HttpResponse:
    """Return the tenant's threads, the last changed first."""
    return answer(await in_database(_page, caller(request), limit, cursor))


def _page(principal: Principal, limit: int, cursor: str | None) -> dict[str, Any]:
    before = numbered_place_of(cursor)
    rows = threads_page(tenant_id=principal.tenant_id, limit=limit, before=before)
    page, has_more = page_of(rows, limit)
    last = page[-1].thread if has_more else None
    next_cursor = cursor_of(last.updated_at, last.pk) if last else None
    return listed([thread_json(row) for row in page], next_cursor)


@router.get("/sessions/{thread_id}", response={200: Any, 404: ProblemOut})
async def one_thread(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Return the thread's snapshot: the newest events of its active branch, its run, its gates."""
    return answer(await in_database(_snapshot, caller(request), thread_id))


def _snapshot(principal: Principal, thread_id: str) -> dict[str, Any]:
    check_thread_id(thread_id)
    with tenant_snapshot(principal.tenant_id):
        thread = thread_for(tenant_id=principal.tenant_id, suffix=thread_id)
    return snapshot(thread=thread, principal=principal)


@router.get("/history/{thread_id}", response={200: HistoryOut, 404: ProblemOut})
async def history(
    request: HttpRequest, thread_id: str, limit: Window = 200, before_seq: Seq = None
) -> HttpResponse:
    """Return a window of the active branch's events: the newest, or those before a seq."""
    return answer(await in_database(_history, caller(request), thread_id, limit, before_seq))


def _history(
    principal: Principal, thread_id: str, limit: int, before_seq: int | None
) -> dict[str, Any]:
    check_thread_id(thread_id)
    with tenant_snapshot(principal.tenant_id):
        thread = thread_for(tenant_id=principal.tenant_id, suffix=thread_id)
        branch = branch_of(thread_id=thread.pk, number=thread.active_branch)
        events, has_more = newest_events(branch, limit=limit, before_seq=before_seq)
    return {
        "thread_id": thread.suffix,
        "events": [event_frame(event) for event in events],
        "oldest_seq": events[0].seq if events else None,
        "has_more": has_more,
    }
