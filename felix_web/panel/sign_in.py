"""Signing in and out."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlencode

from django.contrib.auth import authenticate, login, logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from agents.views.page import DRAFT_KEY
from felix_web.panel import throttle
from felix_web.tenancy.auth import memberships_of
from felix_web.tenancy.models import User

WRONG = "The name or the password is not right."
NO_TENANT = "You are not a member of any tenant here. Ask an admin to add you."


def safe_next(request: HttpRequest, url: str) -> str:
    """Return the address to go to after signing in: a path of this host, else the home page."""
    is_own = url.startswith("/") and url_has_allowed_host_and_scheme(url, allowed_hosts=None)
    return url if is_own and not url.startswith(("/sign-in", "/sign-out")) else "/"


def sign_in_page(
    request: HttpRequest,
    *,
    next_url: str = "/",
    error: str = "",
    username: str = "",
    kept: str = "",
    unsent: str = "",
    status: int = 200,
) -> HttpResponse:
    """Return the sign-in page.

    Args:
        unsent: One sentence about the act that could not be done.
        kept: What was typed into a form that could not be sent; it comes back after signing in.
    """
    context = {
        "host": request.get_host(),
        "next": safe_next(request, next_url),
        "error": error,
        "username": username,
        "kept": kept,
        "unsent": unsent,
    }
    response = render(request, "sign_in.html", context, status=status)
    response.headers["Cache-Control"] = "no-store, private"
    return response


def _address(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR", ""))


def _lock_words(until: float) -> str:
    end = datetime.fromtimestamp(until, UTC)
    return f"Too many wrong attempts. You can try again at {end:%H:%M:%S} UTC."


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Show the sign-in page, or sign a member in and lead to the page that was asked for."""
    if request.method != "POST":
        if isinstance(request.user, User) and memberships_of(request.user):
            return HttpResponseRedirect(safe_next(request, request.GET.get("next", "/")))
        return sign_in_page(request, next_url=request.GET.get("next", "/"))
    username = request.POST.get("username", "")[:150]
    until = throttle.locked_until(username=username, address=_address(request))
    if until is not None:
        return _refused(request, _lock_words(until), username, status=429)
    user = authenticate(request, username=username, password=request.POST.get("password", ""))
    if not isinstance(user, User):
        throttle.record_failure(username=username, address=_address(request))
        until = throttle.locked_until(username=username, address=_address(request))
        return _refused(
            request, WRONG if until is None else f"{WRONG} {_lock_words(until)}", username
        )
    return _welcome(request, user)


def _refused(request: HttpRequest, error: str, username: str, status: int = 200) -> HttpResponse:
    return sign_in_page(
        request,
        next_url=request.POST.get("next", "/"),
        error=error,
        username=username,
        kept=request.POST.get("kept", ""),
        status=status,
    )


def _welcome(request: HttpRequest, user: User) -> HttpResponse:
    throttle.forget_failures(username=user.get_username(), address=_address(request))
    if not memberships_of(user):
        return _refused(request, NO_TENANT, user.get_username())
    login(request, user)
    target = safe_next(request, request.POST.get("next", "/"))
    kept = request.POST.get("kept", "")
    if kept:
        request.session[DRAFT_KEY] = {"path": target, "text": kept}
    if user.has_one_time_password:
        return HttpResponseRedirect(f"/sign-in/new-password/?{urlencode({'next': target})}")
    return HttpResponseRedirect(target)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """The session is over, on the server too."""
    logout(request)
    return HttpResponseRedirect("/sign-in/")
