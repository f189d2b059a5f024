"""Static files, by WhiteNoise, without WhiteNoise in the way of every other request.

Its middleware is synchronous: in the chain it would hold a thread for as long as a request lasts,
and some of ours last minutes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from whitenoise.middleware import WhiteNoiseMiddleware

Next = Callable[[HttpRequest], HttpResponseBase]
AsyncNext = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


def _missing(request: HttpRequest) -> HttpResponse:
    return HttpResponseNotFound("There is no such file.", content_type="text/plain")


@sync_and_async_middleware
def static_files(get_response: Next | AsyncNext) -> Next | AsyncNext:
    """Addresses below STATIC_URL are files, or 404; everything else passes through."""
    serve: Next = WhiteNoiseMiddleware(_missing)

    if iscoroutinefunction(get_response):
        go_on = cast("AsyncNext", get_response)

        async def handle(request: HttpRequest) -> HttpResponseBase:
            if request.path_info.startswith(settings.STATIC_URL):
                return await sync_to_async(serve)(request)
            return await go_on(request)

        return handle

    def handle_sync(request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(settings.STATIC_URL):
            return serve(request)
        return cast("Next", get_response)(request)

    return handle_sync
