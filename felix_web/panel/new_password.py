"""Replacing the one-time password that a command printed."""

from __future__ import annotations

from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from felix_web.panel.passwords import set_password
from felix_web.panel.sign_in import safe_next
from felix_web.tenancy.models import User


def _problem(password: str, user: User) -> str:
    if user.check_password(password):
        return "This is the password that was printed for you. Choose another one."
    try:
        validate_password(password, user)
    except ValidationError as error:
        return " ".join(error.messages)
    return ""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new_password(request: HttpRequest) -> HttpResponse:
    """Show the form, or save the member's own password and go on; their other sessions end."""
    user = request.user
    if not isinstance(user, User):
        return HttpResponseRedirect("/sign-in/")
    given = request.POST if request.method == "POST" else request.GET
    target = safe_next(request, given.get("next", "/"))
    error = ""
    if request.method == "POST":
        error = _problem(request.POST.get("password", ""), user)
        if not error:
            set_password(user=user, password=request.POST["password"])
            update_session_auth_hash(request, user)
            return HttpResponseRedirect(target)
    return render(request, "new_password.html", {"user": user, "next": target, "error": error})
