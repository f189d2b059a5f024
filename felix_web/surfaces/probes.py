"""Probes: alive, and ready to serve."""

from __future__ import annotations

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, JsonResponse


def live(request: HttpRequest) -> JsonResponse:
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


def ready(request: HttpRequest) -> JsonResponse:
    """200 while the database can be used, else 503. A lost broker is told, not fatal: sweeps and
    polls go on.
    """
    parts = {"database": _database_state(), "broker": _broker_state()}
    is_ready = parts["database"] == "ok"
    degraded = "unavailable" in parts.values()
    status = "degraded" if is_ready and degraded else "ok" if is_ready else "unavailable"
    return JsonResponse({"status": status, "parts": parts}, status=200 if is_ready else 503)
