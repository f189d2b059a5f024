"""Probes: alive, and ready to serve."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from agents.profiles import is_scripted
from felix_web.common.errors import FelixError
from felix_web.common.lasting import missing_threads

METHODS = ["GET", "HEAD"]
Probe = Callable[[HttpRequest], HttpResponse]


def _probe(view: Probe) -> Probe:
    """Return the view for those who read; every other method is 405 in plain text, form or not."""

    @csrf_exempt
    @wraps(view)
    def handle(request: HttpRequest) -> HttpResponse:
        if request.method in METHODS:
            return view(request)
        words = f"Methods here: {', '.join(METHODS)}.\n"
        return HttpResponseNotAllowed(METHODS, words, content_type="text/plain; charset=utf-8")

    return handle


@_probe
def live(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


def _database_state() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM agent_sessions_run LIMIT 1")
    except Error:
        return "unavailable"
    return "ok"


def _broker_state() -> str:
    if settings.IS_EMBEDDED:
        return "embedded"
    from redis.exceptions import RedisError

    from agents.doorbells import redis_client

    try:
        redis_client().ping()
    except RedisError:
        return "unavailable"
    return "ok"


def _threads_state() -> str:
    """Return "ok", or which threads of this process ended that never should."""
    missing = missing_threads()
    return f"unavailable: {', '.join(missing)}" if missing else "ok"


def _model_state() -> str:
    """Return "ok", or "scripted" where the demo model answers."""
    try:
        return "scripted" if is_scripted() else "ok"
    except FelixError:
        return "unavailable"


@_probe
def ready(request: HttpRequest) -> HttpResponse:
    """200 while the database can be used, else 503. A lost broker or a lost thread is told, not
    fatal: sweeps and polls of other processes go on.
    """
    parts = {
        "database": _database_state(),
        "broker": _broker_state(),
        "threads": _threads_state(),
        "model": _model_state(),
    }
    is_ready = parts["database"] == "ok"
    degraded = any(state.startswith("unavailable") for state in parts.values())
    status = "degraded" if is_ready and degraded else "ok" if is_ready else "unavailable"
    return JsonResponse({"status": status, "parts": parts}, status=200 if is_ready else 503)
