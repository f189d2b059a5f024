"""The REST surface: its routes, who may ask, and what an error looks like."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache, wraps
from typing import Any, cast

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver
from ninja import NinjaAPI, Router

from felix_web.common.errors import NotFound
from felix_web.surfaces.auth import Credential
from felix_web.surfaces.database import in_database
from felix_web.surfaces.problem import problem_response
from felix_web.surfaces.rest import approvals, chat, grants, manifests, sessions
from felix_web.surfaces.rest.bodies import JsonParser
from felix_web.surfaces.rest.handlers import MethodNotAllowed, add_handlers
from felix_web.surfaces.rest.translate import answer

AsyncView = Callable[..., Awaitable[HttpResponseBase]]
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def _finished(view: AsyncView) -> AsyncView:
    """Return the view with HEAD answered as GET, a wrong method told as a problem, and no answer
    kept by any cache.
    """

    @wraps(view)
    async def handle(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        is_head = request.method == "HEAD"
        if is_head:
            request.method = "GET"
        response = await view(request, *args, **kwargs)
        if isinstance(response, HttpResponseNotAllowed):
            allow = _with_head(response.headers["Allow"])
            response = problem_response(MethodNotAllowed(f"Methods here: {allow}."))
            response.headers["Allow"] = allow
        response.headers.setdefault("Cache-Control", "no-store")
        return _head_of(response) if is_head else response

    return handle


def _with_head(allow: str) -> str:
    methods = allow.split(", ")
    return ", ".join([*methods, "HEAD"] if "GET" in methods else methods)


def _head_of(response: HttpResponseBase) -> HttpResponse:
    """Return the answer without its body. A stream that was not begun leaves nothing behind."""
    return HttpResponse(status=response.status_code, headers=dict(response.headers))


class RestApi(NinjaAPI):
    """Ninja's API with every answer finished in one place."""

    @property
    def urls(self) -> tuple[list[URLResolver | URLPattern], str, str]:
        """The addresses, as `path("api/", api.urls)` takes them, without ninja's root page."""
        patterns, app, namespace = super().urls
        routes = [one for one in patterns if isinstance(one, URLPattern) and one.name != "api-root"]
        for route in routes:
            route.callback = _finished(cast("AsyncView", route.callback))
        return list(routes), app, namespace


api = RestApi(
    title="Felix",
    version="1",
    description="Governed agents: send, follow, decide.",
    auth=Credential(),
    parser=JsonParser(),
    docs_url=None,
    openapi_url="",
)
add_handlers(api)
api.add_router("/chat", chat.router)
api.add_router("/chat", sessions.router)
api.add_router("/approvals", approvals.router)
api.add_router("/grants", grants.router)
api.add_router("/manifests", manifests.router)


@cache
def _document() -> dict[str, Any]:
    return dict(api.get_openapi_schema(path_prefix="/api/"))


# Behind all others: its last address is any.
rest = Router()


@rest.get("/openapi.json", include_in_schema=False)
async def openapi(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI document of this surface."""
    return answer(await in_database(_document))


@rest.api_operation(METHODS, "/{path:elsewhere}", include_in_schema=False)
async def nowhere(request: HttpRequest, elsewhere: str) -> HttpResponse:
    """Answer for addresses that are not there, as for ids that are not."""
    raise NotFound("There is nothing at this address.")


api.add_router("", rest)
