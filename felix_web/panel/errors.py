"""The page for a form that does not belong to this browser's session.

The other error pages are templates that Django finds by their names: 400, 403, 404 and 500.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from agents.views.page import request_id


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say with a 403 that nothing was done, and give back what was typed."""
    context = {
        "title": "Not sent",
        "words": "The form was too old or came from another place. Nothing was done.",
        "hint": "Go back, reload the page and send it again.",
        "status": 403,
        "kept": request.POST.get("message") or request.POST.get("note") or "",
        "request_id": request_id(request),
    }
    return render(request, "error.html", context, status=403)
