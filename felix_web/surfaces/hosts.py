"""The host a request names is one of this deployment's, in front of everything else."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import ClassVar, cast

from asgiref.sync import iscoroutinefunction
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from felix_web.common.errors import InvalidInput
from felix_web.surfaces.problem import problem_response

log = logging.getLogger(__name__)

Next = Callable[[HttpRequest], HttpResponseBase]
AsyncNext = Callable[[HttpRequest], Awaitable[HttpResponseBase]]

PROBES = frozenset({"/live", "/ready"})
"""Whoever probes a process asks by its address, not by its name; nothing in the answers depends on
the host."""


class UnknownHost(InvalidInput):
    """The request names a host that is not served here."""

    code: ClassVar[str] = "unknown_host"
    title = "Unknown host"
    hint = "FELIX_ALLOWED_HOSTS lists the names that this deployment answers to."


def _refusal(request: HttpRequest) -> HttpResponse | None:
    if request.path_info in PROBES:
        return None
    try:
        request.get_host()
    except DisallowedHost:
        log.warning("host_refused", extra={"host": request.headers.get("host", "")})
        if request.path_info.startswith("/api/"):
            return problem_response(UnknownHost())
        words = f"{UnknownHost().message} {UnknownHost.hint}\n"
        return HttpResponse(words, status=400, content_type="text/plain; charset=utf-8")
    return None


@sync_and_async_middleware
def known_host(get_response: Next | AsyncNext) -> Next | AsyncNext:
    """A request for a host that FELIX_ALLOWED_HOSTS does not list is answered 400, whatever its
    address; only the probes answer to any name.
    """
    if iscoroutinefunction(get_response):
        go_on = cast("AsyncNext", get_response)

        async def handle(request: HttpRequest) -> HttpResponseBase:
            refusal = _refusal(request)
            return refusal if refusal is not None else await go_on(request)

        return handle

    def handle_sync(request: HttpRequest) -> HttpResponseBase:
        refusal = _refusal(request)
        return refusal if refusal is not None else cast("Next", get_response)(request)

    return handle_sync
