"""What the frame of every page shows: member, open section, attention line, the page's moment."""

from __future__ import annotations

import time
from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from agents.views.page import request_id
from felix_web.panel.attention import attention_of


def shell(request: HttpRequest) -> dict[str, Any]:
    """Return the frame's context; for a request without a member its id and moment only.

    The attention line is read when a template asks for it: a page without a frame has no query.
    """
    now_ms = int(time.time() * 1000)
    context: dict[str, Any] = {"now_ms": now_ms, "request_id": request_id(request)}
    principal = getattr(request, "principal", None)
    if principal is not None:
        context["member"] = principal
        context["section"] = request.path.strip("/").partition("/")[0]
        context["attention"] = SimpleLazyObject(lambda: attention_of(principal, now_ms=now_ms))
    return context
