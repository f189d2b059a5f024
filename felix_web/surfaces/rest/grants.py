"""`/api/grants`: the standing permissions of a tenant."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router

from approvals.grants import grant_json, grants_page, revoke_grant
from felix_web.common.errors import NotFound
from felix_web.surfaces.auth import caller
from felix_web.surfaces.database import in_database
from felix_web.surfaces.rest.answers import GrantOut, ListOut, ProblemOut
from felix_web.surfaces.rest.approvals import Limit
from felix_web.surfaces.rest.bodies import storable
from felix_web.surfaces.rest.cursors import cursor_of, listed, page_of, place_of
from felix_web.surfaces.rest.translate import answer
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_snapshot

router = Router(tags=["grants"])


@router.get("", response={200: ListOut[GrantOut], 400: ProblemOut})
@router.get("/", include_in_schema=False)
async def list_grants(
    request: HttpRequest, limit: Limit = 50, cursor: str | None = None
) -> HttpResponse:
    """Return the tenant's grants, newest first, with those that lapsed or were revoked."""
    return answer(await in_database(_page, caller(request), limit, cursor))


def _page(principal: Principal, limit: int, cursor: str | None) -> dict[str, Any]:
    principal.need("approvals:read")
    before = place_of(cursor)
    with tenant_snapshot(principal.tenant_id):
        rows = grants_page(tenant_id=principal.tenant_id, limit=limit, before=before)
        now = database_now()
        page, has_more = page_of(rows, limit)
        items = [grant_json(grant, now=now) for grant in page]
    last = page[-1] if has_more else None
    return listed(items, cursor_of(last.created_at, last.pk) if last else None)


@router.post("/{grant_id}/revoke", response={200: GrantOut, frozenset({403, 404}): ProblemOut})
async def revoke(request: HttpRequest, grant_id: str) -> HttpResponse:
    """Take a grant back: no call begins under it any more. Revoked again is 200."""
    return answer(await in_database(_revoke, caller(request), grant_id))


def _revoke(principal: Principal, grant_id: str) -> dict[str, Any]:
    grant = revoke_grant(principal=principal, grant_id=storable(grant_id, NotFound))
    with tenant_snapshot(principal.tenant_id):
        return grant_json(grant, now=database_now())
