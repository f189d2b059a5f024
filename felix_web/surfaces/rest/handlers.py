"""Ninja's own errors, in the one shape of all REST errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from felix_web.common.errors import FelixError, InvalidInput, NotFound
from felix_web.common.visible_text import one_line
from felix_web.surfaces.problem import problem_response
from felix_web.surfaces.rest.bodies import MalformedJson

MOST_COMPLAINTS = 20
LONGEST_FIELD = 100

E = TypeVar("E", bound=Exception)


class MethodNotAllowed(FelixError):
    """This address does not take this method."""

    code: ClassVar[str] = "method_not_allowed"
    title = "Method not allowed"


def add_handlers(api: NinjaAPI) -> None:
    """Every exception of a route of the API is answered as a problem."""
    api.add_exception_handler(Exception, _any)
    api.add_exception_handler(FelixError, _any)
    api.add_exception_handler(Http404, _missing)
    api.add_exception_handler(HttpError, _http)
    api.add_exception_handler(ValidationError, _invalid)


def _raised(error: E | type[E]) -> E:
    """Return the exception; by ninja's types it may be a class."""
    return error() if isinstance(error, type) else error


def _any(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    return problem_response(_raised(error))


def _missing(request: HttpRequest, error: Http404 | type[Http404]) -> HttpResponse:
    return problem_response(NotFound("There is nothing at this address."))


def _http(request: HttpRequest, error: HttpError | type[HttpError]) -> HttpResponse:
    """Ninja wraps whatever reading a body raises; the reason is what the caller needs."""
    error = _raised(error)
    cause = error.__cause__
    if error.status_code == 400:
        return problem_response(cause if isinstance(cause, FelixError) else MalformedJson())
    return problem_response(error)


def _invalid(request: HttpRequest, error: ValidationError | type[ValidationError]) -> HttpResponse:
    error = _raised(error)
    complaints = [_complaint(row) for row in error.errors]
    shown = complaints[:MOST_COMPLAINTS]
    detail = "; ".join(f"{row['field']}: {row['message']}" for row in shown)
    more = len(complaints) - len(shown)
    if more:
        detail += f"; and {more} more"
    return problem_response(InvalidInput(f"{detail}.", errors=shown))


def _complaint(row: Mapping[str, Any]) -> dict[str, str]:
    """Return where and what is wrong; never the value that was sent."""
    # In front stand the source and ninja's own parameter: ("body", "body", "messages", 0).
    source, *place = [str(part) for part in row["loc"]]
    inside = place[1:] if source == "body" else place
    field = one_line(".".join(inside), LONGEST_FIELD) if inside else source
    match row["type"]:
        case "extra_forbidden":
            return {"field": field, "message": "unknown field"}
        case "missing":
            return {"field": field, "message": "missing"}
    return {"field": field, "message": str(row["msg"]).removeprefix("Value error, ")}
