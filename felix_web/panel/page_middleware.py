"""Django's middleware for pages, out of the way of programs.

Each of these takes a request to a thread and back, twice; what a key authenticates needs none of
them. A request to a machine's address passes through untouched.
"""

from __future__ import annotations

from typing import Any

from csp.middleware import CSPMiddleware
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.security import SecurityMiddleware
from django_htmx.middleware import HtmxMiddleware

MACHINES = ("/api/", "/v1/", "/live", "/ready")


class ForPages:
    """Leaves requests of programs alone; stands before a middleware class."""

    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        """Answer, through the middleware only where a person asks for a page."""
        if request.path_info.startswith(MACHINES):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc]


class PageSecurity(ForPages, SecurityMiddleware):
    """Security headers."""


class PageCsp(ForPages, CSPMiddleware):
    """The content security policy."""


class PageSessions(ForPages, SessionMiddleware):
    """Sign-in sessions."""


class PageCsrf(ForPages, CsrfViewMiddleware):
    """Tokens in forms. An API view is exempt by its own mark, which this still looks at."""


class PageAuthentication(ForPages, AuthenticationMiddleware):
    """`request.user`."""


class PageHtmx(ForPages, HtmxMiddleware):
    """`request.htmx`."""


class PageFrames(ForPages, XFrameOptionsMiddleware):
    """No page in a frame."""
