"""Every error as RFC 9457 `application/problem+json`: one table from code or kind to status."""

from __future__ import annotations

import errno
import json
import logging
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import HttpResponse

from agents.store import StoreUnavailable
from felix_web.common.errors import (
    FelixError,
    Forbidden,
    InvalidInput,
    NotFound,
    Unauthenticated,
    Unavailable,
)
from felix_web.common.visible_text import ELLIPSIS, make_visible
from felix_web.logs import current_ids

log = logging.getLogger(__name__)

LONGEST_TEXT = 4_000

STATUS_BY_CODE = {
    "already_decided": 409,
    "already_exists": 409,
    "api_key_unset": 503,
    "configuration": 503,
    "evidence_changed": 409,
    "evidence_unreadable": 409,
    "gate_expired": 409,
    "gate_withdrawn": 409,
    "idempotency_in_progress": 409,
    "idempotency_key_reused": 422,
    "invalid_cursor": 400,
    "invalid_idempotency_key": 400,
    "invalid_manifest": 422,
    "invalid_thread_id": 400,
    "malformed_json": 400,
    "method_not_allowed": 405,
    "models_invalid": 503,
    "no_models": 503,
    "not_extendable": 409,
    "run_in_progress": 409,
    "script_invalid": 503,
    "stale_gate": 409,
    "thread_exists": 409,
    "unknown_host": 400,
    "unknown_model": 400,
}
STATUS_BY_KIND: tuple[tuple[type[FelixError], int], ...] = (
    (Unauthenticated, 401),
    (Forbidden, 403),
    (NotFound, 404),
    (InvalidInput, 422),
    (Unavailable, 503),
)
# What these say is for whoever runs the deployment: paths and names of its own files.
PRIVATE = frozenset({"configuration", "models_invalid", "script_invalid"})
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


def status_of(error: FelixError) -> int:
    """Return the HTTP status of an error: by its code, else by its kind; 500 for what no request
    should meet.
    """
    by_kind = (status for kind, status in STATUS_BY_KIND if isinstance(error, kind))
    return STATUS_BY_CODE.get(error.code) or next(by_kind, 500)


def shown(value: Any) -> Any:
    """Return a member of a problem with everything that hides made visible, each text at most
    4,000 characters.
    """
    if isinstance(value, str):
        cut = make_visible(value[:LONGEST_TEXT])
        return cut + ELLIPSIS if len(value) > LONGEST_TEXT else cut
    if isinstance(value, dict):
        return {shown(key): shown(item) for key, item in value.items()}
    return [shown(item) for item in value] if isinstance(value, list | tuple) else value


def problem_of(error: FelixError) -> dict[str, Any]:
    """Return the members of an error's problem.

    A gate stands in it as `GET /api/approvals/{id}` shows it, so that a client may put one in the
    other's place.
    """
    status = status_of(error)
    if status == 500 or error.code in PRIVATE:
        log.error("request_failed", extra={"error": error.code, "detail": error.message})
    if status == 500:
        return _internal()
    detail = error.message
    if error.code in PRIVATE:
        detail = "This deployment's configuration cannot be used; its log says why."
    hint = {"hint": error.hint} if error.hint else {}
    kept = {name: value for name, value in error.fields.items() if name != "gate"}
    return {
        **shown(kept),
        "type": "about:blank",
        "title": error.title,
        "status": status,
        "code": error.code,
        "detail": shown(detail),
        **hint,
        **({"gate": error.fields["gate"]} if "gate" in error.fields else {}),
    }


def _internal() -> dict[str, Any]:
    return {
        "type": "about:blank",
        "title": "Internal error",
        "status": 500,
        "code": "internal",
        "detail": "Something went wrong inside Felix. It was written to the log.",
        "request_id": current_ids().get("request_id", ""),
    }


def named_error(error: Exception) -> FelixError | None:
    """Return the error Felix names for an exception of the layers below, or None for one it cannot
    name.
    """
    if isinstance(error, FelixError):
        return error
    # Of DatabaseError's kinds the others are mistakes of ours, not states of the database.
    is_down = isinstance(error, OperationalError | InterfaceError) or type(error) is DatabaseError
    is_full = isinstance(error, OSError) and error.errno in FULL
    if is_down or is_full:
        log.error("store_unavailable", extra={"error": type(error).__name__})
        return StoreUnavailable("Felix could not read or write its store. Nothing was changed.")
    return None


def problem_response(error: Exception) -> HttpResponse:
    """Return the answer for an error. One that Felix cannot name is logged and answered without a
    word about it.
    """
    named = named_error(error)
    if named is None:
        log.error("request_crashed", extra={"error": type(error).__name__}, exc_info=error)
        body = _internal()
    else:
        body = problem_of(named)
    response = HttpResponse(
        json.dumps(body),
        status=body["status"],
        content_type="application/problem+json",
    )
    if body["status"] == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="felix"'
    return response
