"""What every page of the panel shares: who asks, how an error looks, and that no cache keeps it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from felix_web.common.errors import (
    FelixError,
    Forbidden,
    InvalidInput,
    NotFound,
    Unauthenticated,
    Unavailable,
)
from felix_web.common.ids import new_id
from felix_web.tenancy.principal import Principal

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]

DRAFT_KEY = "draft"

STATUS: tuple[tuple[type[FelixError], int], ...] = (
    (Unauthenticated, 401),
    (Forbidden, 403),
    (NotFound, 404),
    (InvalidInput, 400),
    (Unavailable, 503),
)


class OtherTenant(FelixError):
    """This form was made for another tenant than the one that is open now. Nothing was done."""

    code = "other_tenant"
    title = "Another tenant is open"
    hint = "Switch back to that tenant, or open the page again and repeat the act here."


def principal_of(request: HttpRequest) -> Principal:
    """Return the signed-in member; the panel's middleware lets no other request through.

    Raises:
        Unauthenticated: there is none, because the middleware is not installed.
    """
    principal = getattr(request, "principal", None)
    if not isinstance(principal, Principal):
        raise Unauthenticated("Sign in first.")
    return principal


def status_of(error: FelixError) -> int:
    """Return an error page's status; what is not missing, forbidden or malformed is a conflict."""
    return next((status for kind, status in STATUS if isinstance(error, kind)), 409)


def request_id(request: HttpRequest) -> str:
    """Return the id that the answer's `x-request-id` carries, or "" outside the ASGI server."""
    return str(getattr(request, "scope", {}).get("felix.request_id", ""))


def error_page(request: HttpRequest, error: FelixError, *, kept: str = "") -> HttpResponse:
    """Return the whole page that names the error and what can be done.

    Args:
        kept: Text the person had typed; it is given back.
    """
    status = status_of(error)
    context = {
        "title": error.title,
        "words": error.message,
        "hint": error.hint,
        "status": status,
        "kept": kept,
        "request_id": request_id(request),
    }
    return render(request, "error.html", context, status=status)


def page(view: View[P]) -> View[P]:
    """Return the view with its named errors as pages, and its answer kept out of every cache."""

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            response = view(request, *args, **kwargs)
        except FelixError as error:
            kept = request.POST.get("message") or request.POST.get("note") or ""
            response = error_page(request, error, kept=kept)
        response.headers["Cache-Control"] = "no-store, private"
        return response

    return wrapped


def check_tenant(request: HttpRequest, principal: Principal) -> None:
    """Return when the form was rendered for the tenant that is open now (decisions 3.12).

    Raises:
        OtherTenant: it was not, or does not say; nothing may be written.
    """
    if request.POST.get("tenant") != principal.tenant_slug:
        raise OtherTenant()


def act_key() -> str:
    """Return a fresh idempotency key for a form: sending it twice does it once."""
    return new_id("act")


def take_draft(request: HttpRequest) -> str:
    """Return, once, what was typed on this page and not sent because the session had ended."""
    draft = request.session.get(DRAFT_KEY)
    if not isinstance(draft, dict) or draft.get("path") != request.path:
        return ""
    del request.session[DRAFT_KEY]
    return str(draft.get("text", ""))


def optional_int(text: str | None) -> int | None:
    """Return a number from a query string, or None where there is none that could be meant."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 18 else None


def with_query(path: str, **query: Any) -> str:
    """Return the path with those parameters that are not empty."""
    kept = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(kept)}" if kept else path
