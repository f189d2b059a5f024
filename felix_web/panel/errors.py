"""Error pages: complete, plain, without a traceback. They ask no database and need no session."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from agents.views.page import request_id


def _page(
    request: HttpRequest, status: int, title: str, words: str, hint: str = ""
) -> HttpResponse:
    context = {
        "title": title,
        "words": words,
        "hint": hint,
        "status": status,
        "request_id": request_id(request),
    }
    return HttpResponse(render_to_string("error.html", context), status=status)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400: the request cannot be understood."""
    words = "The address or the form could not be understood. Nothing was done."
    return _page(request, 400, "Bad request", words, "Go back, reload the page and try again.")


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403: not the caller's to do."""
    words = "This is not yours to do. Nothing was done."
    return _page(request, 403, "Forbidden", words, "An admin of the tenant can change your role.")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403: the form does not belong to this browser session."""
    words = "The form was too old or came from another place. Nothing was done."
    return _page(request, 403, "Not sent", words, "Go back, reload the page and send it again.")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404: nothing here, or nothing of the caller's."""
    words = "There is nothing at this address."
    hint = "Check the id; something of another tenant answers the same."
    return _page(request, 404, "Not found", words, hint)


def server_error(request: HttpRequest) -> HttpResponse:
    """500: Felix failed; the log has the reason under the request's id."""
    words = "Something went wrong inside Felix. It was written to the log."
    hint = "Try again. If it happens again, tell an operator the request id."
    return _page(request, 500, "Internal error", words, hint)
