"""What went wrong at a provider, as one kind of error: try again or not, in words fit to show."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from agents.core.providers.base import ProviderError
from agents.core.providers.clean import clean_text

MAX_DETAIL_CHARACTERS = 500
_RETRYABLE = frozenset({408, 409, 425, 429})
_SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_TOO_LONG = "context_length_exceeded"
_REFUSED = frozenset(
    {"invalid_request_error", "authentication_error", "permission_error", _TOO_LONG}
)
_SECRET = re.compile(r"(?i)\b(?:sk|pk|rk|key|fx)[-_][a-z0-9_\-*.]{6,}|bearer\s+\S+")
_MESSAGES = {
    400: "The provider refused the request as invalid.",
    401: "The provider did not accept the API key.",
    402: "The provider account has no credit left.",
    403: "The provider does not allow this key to use the model.",
    404: "The provider does not know this model or address.",
    408: "The provider timed out.",
    409: "The provider reported a conflict.",
    413: "The request is larger than the provider accepts.",
    422: "The provider refused the request as invalid.",
    429: "The provider limits the rate of requests.",
    529: "The provider is overloaded.",
}


def retry_after_seconds(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Return how long the provider wishes us to wait, or None where it says nothing we can read.

    Source: RFC 9110 10.2.3 (seconds or an HTTP date); `retry-after-ms` is OpenAI's own.
    """
    for name, divisor in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / divisor
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def redacted(text: str, *, api_key: str) -> str:
    """Return the provider's text as a log may hold it: short, with nothing like a key in it."""
    text = clean_text(text)
    if api_key:
        text = text.replace(api_key, "[key]")
    return _SECRET.sub("[secret]", text)[:MAX_DETAIL_CHARACTERS]


def _names(body: Any) -> set[str]:
    fields = body if isinstance(body, Mapping) else {}
    return {str(fields[key]) for key in ("code", "type") if fields.get(key) is not None}


def _as_text(body: Any) -> str:
    if isinstance(body, str):
        return body
    return json.dumps(body, ensure_ascii=False, default=str) if body is not None else ""


def from_status(
    status: int, body: Any, headers: Mapping[str, str], *, api_key: str
) -> ProviderError:
    """Return the error of an HTTP status. `body` is the provider's error object, text or None."""
    names = _names(body)
    is_spent = bool(names & _SPENT) or status == 402
    message = _MESSAGES.get(status) or f"The provider answered with status {status}."
    if is_spent:
        message = "The quota of the provider account is spent."
    elif _TOO_LONG in names:
        message = "The conversation is longer than the model's context window."
    is_transient = status in _RETRYABLE or status >= 500
    return ProviderError(
        message,
        retryable=is_transient and not is_spent,
        retry_after_seconds=retry_after_seconds(headers),
        status=status,
        detail=redacted(_as_text(body), api_key=api_key),
    )


def from_stream(body: Any, *, api_key: str) -> ProviderError:
    """Return the error that a provider reports inside a stream it began with status 200."""
    code = body.get("code") if isinstance(body, Mapping) else None
    if str(code).isdecimal() and 400 <= int(str(code)) < 600:
        return from_status(int(str(code)), body, {}, api_key=api_key)
    names = _names(body)
    detail = redacted(_as_text(body), api_key=api_key)
    if names & _SPENT:
        return ProviderError("The quota of the provider account is spent.", detail=detail)
    if names & _REFUSED:
        return ProviderError("The provider refused the request while it answered.", detail=detail)
    return ProviderError("The provider failed while it answered.", retryable=True, detail=detail)


def is_usage_lost(error: Exception) -> bool:
    """Return whether a request that failed before its stream began may have used tokens.

    A status says that it was refused, and without a connection nothing was sent. What else breaks
    off, or times out, may have been worked on.
    """
    import httpx2
    import openai

    if isinstance(error, openai.APIStatusError):
        return False
    unsent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
    return not isinstance(error.__cause__, unsent)


def from_sdk(error: Exception, *, api_key: str) -> ProviderError:
    """Return the error for whatever the SDK, its HTTP client or its JSON reader raised."""
    import openai

    if isinstance(error, openai.APIStatusError):
        headers = error.response.headers
        return from_status(error.status_code, error.body, headers, api_key=api_key)
    if isinstance(error, openai.APITimeoutError):
        return ProviderError("The provider did not answer in time.", retryable=True)
    if isinstance(error, openai.APIConnectionError):
        detail = redacted(str(error.__cause__ or error), api_key=api_key)
        message = "The connection to the provider failed."
        return ProviderError(message, retryable=True, detail=detail)
    if isinstance(error, openai.APIError):
        return from_stream(error.body, api_key=api_key)
    detail = redacted(f"{type(error).__name__}: {error}", api_key=api_key)
    return ProviderError("The provider's answer cannot be read.", retryable=True, detail=detail)
