"""`/api/manifests`: agents as their tenant wrote them."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from agents.core.manifest.bundled import UnknownManifest
from agents.core.manifest.decode import decode
from agents.selectors import manifest_rows
from agents.services.manifests import live_version, put_manifest, version_of
from felix_web.surfaces.auth import caller
from felix_web.surfaces.database import in_database
from felix_web.surfaces.rest.answers import ListOut, ManifestNameOut, ManifestOut, ProblemOut
from felix_web.surfaces.rest.bodies import storable
from felix_web.surfaces.rest.cursors import listed
from felix_web.surfaces.rest.translate import answer, manifest_json, manifest_row_json
from felix_web.tenancy.principal import Principal

FILE = "manifest.yaml"
BODY = {
    "requestBody": {
        "required": True,
        "description": "A felix/v1 manifest, as YAML or as JSON.",
        "content": {
            "application/yaml": {"schema": {"type": "string"}},
            "application/json": {"schema": {"type": "object"}},
        },
    }
}

router = Router(tags=["manifests"])

Number = Annotated[int | None, Query(ge=1, le=2_147_483_647)]


@router.get("", response={200: ListOut[ManifestNameOut]})
@router.get("/", include_in_schema=False)
async def list_manifests(request: HttpRequest) -> HttpResponse:
    """Return the manifests a run may be started with, by name."""
    return answer(await in_database(_list, caller(request)))


def _list(principal: Principal) -> dict[str, Any]:
    principal.need("manifests:read")
    rows = manifest_rows(tenant_id=principal.tenant_id)
    return listed([manifest_row_json(row) for row in rows], None)


@router.put(
    "/{name}",
    response={frozenset({200, 201}): ManifestOut, frozenset({403, 422}): ProblemOut},
    openapi_extra=BODY,
)
async def put(request: HttpRequest, name: str) -> HttpResponse:
    """Store the manifest as its next version: 201; 200 where the live one says the same."""
    stored, is_new = await in_database(_put, caller(request), name, request.body)
    return answer(stored, status=201 if is_new else 200)


def _put(principal: Principal, name: str, body: bytes) -> tuple[dict[str, Any], bool]:
    principal.need("manifests:write")
    decode(body, file=FILE)
    text = body.decode("utf-8-sig")
    version, is_new = put_manifest(principal=principal, name=name, text=text, file=FILE)
    return manifest_json(name, version), is_new


@router.get("/{name}", response={200: ManifestOut, 404: ProblemOut})
async def one_manifest(request: HttpRequest, name: str, version: Number = None) -> HttpResponse:
    """Return the live version of a manifest, or the one asked for."""
    return answer(await in_database(_version, caller(request), name, version))


def _version(principal: Principal, name: str, number: int | None) -> dict[str, Any]:
    principal.need("manifests:read")
    storable(name, UnknownManifest)
    if number is None:
        return manifest_json(name, live_version(tenant_id=principal.tenant_id, name=name))
    stored = version_of(tenant_id=principal.tenant_id, name=name, number=number)
    return manifest_json(name, stored)
