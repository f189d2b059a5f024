"""`/api/approvals`: the gates of a tenant, and the word on one."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from agents.services.deciding import Word, decide
from approvals.core.gate import Decision, GateStatus
from approvals.selectors import gate_for, gate_json, gates_page
from felix_web.common.errors import NotFound
from felix_web.surfaces.auth import caller
from felix_web.surfaces.database import in_database
from felix_web.surfaces.rest.answers import GateOut, ListOut, ProblemOut
from felix_web.surfaces.rest.bodies import storable
from felix_web.surfaces.rest.cursors import cursor_of, listed, page_of, place_of
from felix_web.surfaces.rest.schemas import DecideIn
from felix_web.surfaces.rest.sending import key_of
from felix_web.surfaces.rest.translate import answer
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_snapshot
from sessions.services.threads import check_thread_id

router = Router(tags=["approvals"])

Limit = Annotated[int, Query(ge=1, le=200)]


@router.get("", response={200: ListOut[GateOut], 400: ProblemOut})
@router.get("/", include_in_schema=False)
async def list_gates(
    request: HttpRequest,
    status: GateStatus | None = None,
    thread_id: str | None = None,
    limit: Limit = 50,
    cursor: str | None = None,
) -> HttpResponse:
    """Return the tenant's gates, newest first. A waiting gate whose time is over is an expired
    one.
    """
    page = await in_database(_page, caller(request), status, thread_id, limit, cursor)
    return answer(page)


def _page(
    principal: Principal,
    status: GateStatus | None,
    thread_id: str | None,
    limit: int,
    cursor: str | None,
) -> dict[str, Any]:
    principal.need("approvals:read")
    if thread_id is not None:
        check_thread_id(thread_id)
    before = place_of(cursor)
    with tenant_snapshot(principal.tenant_id):
        rows = gates_page(
            tenant_id=principal.tenant_id,
            status=status,
            thread=thread_id,
            limit=limit,
            before=before,
        )
        now = database_now()
        page, has_more = page_of(rows, limit)
        items = [gate_json(gate, now=now, principal=principal) for gate in page]
    last = page[-1] if has_more else None
    return listed(items, cursor_of(last.created_at, last.pk) if last else None)


@router.get("/{gate_id}", response={200: GateOut, 404: ProblemOut})
async def one_gate(request: HttpRequest, gate_id: str) -> HttpResponse:
    """Return one gate as it is now."""
    return answer(await in_database(_gate, caller(request), gate_id))


def _gate(principal: Principal, gate_id: str) -> dict[str, Any]:
    principal.need("approvals:read")
    return _shown(principal, storable(gate_id, NotFound))


def _shown(principal: Principal, gate_id: str) -> dict[str, Any]:
    with tenant_snapshot(principal.tenant_id):
        gate = gate_for(tenant_id=principal.tenant_id, gate_id=gate_id)
        return gate_json(gate, now=database_now(), principal=principal)


@router.post(
    "/{gate_id}/decide",
    response={200: GateOut, frozenset({403, 404, 409, 422}): ProblemOut},
)
async def decide_gate(request: HttpRequest, gate_id: str, body: DecideIn) -> HttpResponse:
    """Approve or deny. First wins; the same word again is 200, another one 409 with the gate as it
    is.
    """
    key = key_of(request)
    return answer(await in_database(_decide, caller(request), gate_id, body, key))


def _decide(principal: Principal, gate_id: str, body: DecideIn, key: str) -> dict[str, Any]:
    word = Word(
        decision=Decision(body.decision),
        note=body.note,
        edited_args=body.edited_args,
        digest=body.digest,
        revision=body.revision,
        key=key,
    )
    gate = decide(principal=principal, gate_id=storable(gate_id, NotFound), word=word)
    return _shown(principal, gate.pk)
