"""`/api/chat`: sending, following and stopping runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from ninja import Router

from agents.services.stopping import abort_run
from agents.streams import (
    attach_stream,
    cursor_of,
    replay_stream,
    run_stream,
    snapshot,
    wait_for_end,
)
from felix_web.common.errors import NotFound
from felix_web.surfaces.auth import caller
from felix_web.surfaces.database import in_database, last_in_database
from felix_web.surfaces.rest.answers import (
    AbortOut,
    AcceptedOut,
    EndedOut,
    ProblemOut,
    RunStateOut,
)
from felix_web.surfaces.rest.bodies import storable
from felix_web.surfaces.rest.schemas import AbortIn, ChatIn
from felix_web.surfaces.rest.sending import (
    Begun,
    ended_answer,
    key_of,
    leave,
    refuse_while_going,
    take_message,
)
from felix_web.surfaces.rest.stream import sse
from felix_web.surfaces.rest.translate import REPLAYED, accepted_json, answer, run_state_json
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_snapshot
from sessions.selectors import run_by_token, thread_for
from sessions.services.threads import check_thread_id

if TYPE_CHECKING:
    from sessions.models import Thread

LONGEST_WAIT_SECONDS = 300.0

router = Router(tags=["chat"])


@router.post("", response={200: EndedOut, 202: AcceptedOut, frozenset({409, 422}): ProblemOut})
@router.post("/", include_in_schema=False)
async def chat(request: HttpRequest, body: ChatIn) -> HttpResponse:
    """Send a message. A durable agent answers 202 at once, a transient one once its run has
    ended.
    """
    principal = caller(request)
    begun = await take_message(principal=principal, body=body, key=key_of(request))
    refuse_while_going(begun)
    headers = REPLAYED if begun.is_replay else None
    if begun.is_durable or not await _has_ended(principal, begun):
        return answer(accepted_json(begun.run), status=202, headers=headers)
    token = begun.run.resume_token
    ended = await in_database(ended_answer, principal=principal, token=token)
    return answer(ended, headers=headers)


async def _has_ended(principal: Principal, begun: Begun) -> bool:
    """Wait for the run's end, 300 s at most. Where its sender goes away and cannot come back, it
    is stopped (L1).
    """
    try:
        return await wait_for_end(
            run_id=begun.run.pk, principal=principal, timeout_seconds=LONGEST_WAIT_SECONDS
        )
    except asyncio.CancelledError:
        await leave(principal=principal, begun=begun)
        raise


@router.post("/stream", response={200: Any, frozenset({409, 422}): ProblemOut})
async def chat_stream(request: HttpRequest, body: ChatIn) -> StreamingHttpResponse:
    """Send a message and follow its run as server-sent events.

    A resend under a key goes on following a durable run, and replays what an ended one said.
    """
    principal = caller(request)
    begun = await take_message(principal=principal, body=body, key=key_of(request))
    if begun.is_replay:
        return sse(replay_stream(run_id=begun.run.pk, principal=principal), headers=REPLAYED)
    if not begun.is_durable:
        refuse_while_going(begun)
    frames = run_stream(
        run_id=begun.run.pk,
        principal=principal,
        abort_on_disconnect=begun.is_nobodys,
        begun=None if begun.is_resend else begun.run,
    )
    return sse(frames)


@router.get("/stream/{thread_id}", response={200: Any, 204: None, 404: ProblemOut})
async def reattach(
    request: HttpRequest, thread_id: str, last_event_id: str | None = None
) -> HttpResponseBase:
    """Follow a thread from where a reader was; 204 where nothing is going and nothing is new."""
    principal = caller(request)
    thread = await last_in_database(_thread_of, principal, thread_id)
    said = request.headers.get("last-event-id") or last_event_id
    frames = await attach_stream(thread=thread, principal=principal, cursor=cursor_of(said))
    return HttpResponse(status=204) if frames is None else sse(frames)


def _thread_of(principal: Principal, thread_id: str) -> Thread:
    check_thread_id(thread_id)
    with tenant_snapshot(principal.tenant_id):
        return thread_for(tenant_id=principal.tenant_id, suffix=thread_id)


@router.get("/runs/{resume_token}", response={200: RunStateOut, 404: ProblemOut})
async def run_state(request: HttpRequest, resume_token: str) -> HttpResponse:
    """Return how the run of a token stands."""
    return answer(await in_database(_run_state, caller(request), resume_token))


def _run_state(principal: Principal, token: str) -> dict[str, Any]:
    storable(token, NotFound)
    with tenant_snapshot(principal.tenant_id):
        run = run_by_token(tenant_id=principal.tenant_id, token=token)
        return run_state_json(run, database_now())


@router.post("/abort", response={200: AbortOut, 404: ProblemOut})
async def abort(request: HttpRequest, body: AbortIn) -> HttpResponse:
    """Stop the thread's run, if one is going; its gates are withdrawn."""
    return answer(await in_database(_abort, caller(request), body.thread_id))


def _abort(principal: Principal, thread_id: str) -> dict[str, Any]:
    thread = _thread_of(principal, thread_id)
    stopped = abort_run(principal=principal, thread=thread)
    return {
        "ok": True,
        "aborted": stopped is not None,
        "thread_id": thread.suffix,
        "snapshot": snapshot(thread=thread, principal=principal),
    }
