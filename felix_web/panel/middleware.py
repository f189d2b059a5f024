"""Who is signed in: every page of the panel has a member, or leads to the sign-in page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast
from urllib.parse import urlencode

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponsePermanentRedirect,
    HttpResponseRedirect,
)
from django.http.response import HttpResponseBase
from django.urls import is_valid_path
from django.utils.decorators import sync_and_async_middleware

from felix_web.common.errors import Unauthenticated
from felix_web.panel.sign_in import sign_in_page
from felix_web.tenancy.auth import local_principal, member_principal, memberships_of
from felix_web.tenancy.models import Membership, User

SECTIONS = frozenset(
    {"", "threads", "approvals", "manifests", "usage", "audit", "tenants", "sign-out"}
)
TENANT_KEY = "tenant_id"
SIGN_OUT = "/sign-out/"
ACTS = frozenset({"send", "stop", "decide", "extend"})
NOT_SENT = "Not sent: you are signed out. Nothing was done; sign in and repeat it."

Next = Callable[[HttpRequest], HttpResponseBase]
AsyncNext = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


def _is_page(request: HttpRequest) -> bool:
    return request.path.strip("/").partition("/")[0] in SECTIONS


def _is_panel(path: str) -> bool:
    return path.strip("/").partition("/")[0] in SECTIONS | {"sign-in"}


def open_membership(request: HttpRequest) -> Membership | None:
    """Return the membership that is open in this sign-in session, as it is now; None: nobody.

    A person who was removed from the tenant that was open lands in the oldest of the others.
    """
    if not isinstance(request.user, User):
        return None
    mine = memberships_of(request.user)
    chosen = [member for member in mine if member.tenant_id == request.session.get(TENANT_KEY)]
    return next(iter(chosen + mine), None)


def _page_of(path: str) -> str:
    """Return the page that shows the form that was sent here: the address without the act."""
    page, _, act = path.rstrip("/").rpartition("/")
    return f"{page}/" if act in ACTS else path


def _ask_to_sign_in(request: HttpRequest) -> HttpResponse:
    if request.method in ("GET", "HEAD"):
        return HttpResponseRedirect(f"/sign-in/?{urlencode({'next': request.get_full_path()})}")
    kept = request.POST.get("message") or request.POST.get("note") or ""
    page = _page_of(request.path)
    return sign_in_page(request, next_url=page, kept=kept, unsent=NOT_SENT, status=401)


def _slashed(request: HttpRequest) -> HttpResponse | None:
    """Return a redirect from a page's address without its last slash; None for all others.

    Addresses of programs are exact, and a form is sent nowhere but where its page says.
    """
    path = request.path_info
    if request.method not in ("GET", "HEAD") or path.endswith("/") or not _is_panel(path):
        return None
    if is_valid_path(path) or not is_valid_path(f"{path}/"):
        return None
    return HttpResponsePermanentRedirect(request.get_full_path(force_append_slash=True))


def _ask_for_a_password(request: HttpRequest) -> HttpResponse:
    """A printed password opens one page: the one that replaces it."""
    target = request.get_full_path() if request.method in ("GET", "HEAD") else "/"
    return HttpResponseRedirect(f"/sign-in/new-password/?{urlencode({'next': target})}")


def _refusal(request: HttpRequest) -> HttpResponse | None:
    """Give a page's request its member, or return what to answer instead."""
    member = open_membership(request)
    if member is None and not (settings.AUTH_MODE == "none" and settings.IS_LOOPBACK):
        return _ask_to_sign_in(request)
    try:
        principal = local_principal() if member is None else member_principal(member)
    except Unauthenticated:
        return _ask_to_sign_in(request)
    if member is not None and member.user.has_one_time_password and request.path != SIGN_OUT:
        return _ask_for_a_password(request)
    request.principal = principal  # type: ignore[attr-defined]
    return None


@sync_and_async_middleware
def signed_in_member(get_response: Next | AsyncNext) -> Next | AsyncNext:
    """Every page of the panel has `request.principal`; without a sign-in it is the sign-in page.

    An act sent after the session ended is not done; its text stands on the sign-in page. An
    address without its last slash leads to the page.
    """
    if iscoroutinefunction(get_response):
        go_on = cast("AsyncNext", get_response)

        async def handle(request: HttpRequest) -> HttpResponseBase:
            instead = _slashed(request)
            if instead is None and _is_page(request):
                instead = await sync_to_async(_refusal)(request)
            return instead if instead is not None else await go_on(request)

        return handle

    def handle_sync(request: HttpRequest) -> HttpResponseBase:
        instead = _slashed(request)
        if instead is None and _is_page(request):
            instead = _refusal(request)
        return instead if instead is not None else cast("Next", get_response)(request)

    return handle_sync
