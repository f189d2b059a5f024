"""Errors of providers, in our words."""

from datetime import UTC, datetime
from typing import Any

import pytest

from agents.core.providers.failures import from_status, from_stream, retry_after_seconds

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Thu, 01 Jan 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, now=NOW) == seconds


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_a_passing_failure_may_be_tried_again(status: int) -> None:
    assert from_status(status, None, {}, api_key="").retryable


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_a_lasting_failure_may_not_be_tried_again(status: int) -> None:
    error = from_status(status, None, {}, api_key="")

    assert not error.retryable
    assert error.status == status


@pytest.mark.parametrize("body", [{"code": "insufficient_quota"}, {"type": "insufficient_quota"}])
def test_a_spent_quota_is_lasting(body: dict[str, str]) -> None:
    error = from_status(429, body, {}, api_key="")

    assert not error.retryable
    assert "quota" in error.message


def test_a_conversation_that_is_too_long_is_named() -> None:
    error = from_status(400, {"code": "context_length_exceeded"}, {}, api_key="")

    assert "context window" in error.message


def test_the_providers_words_stand_in_the_detail_only_and_without_keys() -> None:
    body = {"message": "secret-plan by abc123 and sk-live-99887766\x00", "code": "x"}

    error = from_status(500, body, {}, api_key="abc123")

    assert "secret-plan" not in error.message
    assert "secret-plan" in error.detail
    assert "abc123" not in error.detail
    assert "99887766" not in error.detail


def test_a_long_detail_is_cut() -> None:
    assert len(from_status(500, "x" * 9999, {}, api_key="").detail) == 500


@pytest.mark.parametrize(
    ("body", "may_retry"),
    [
        ({"code": 502, "message": "bad gateway"}, True),
        ({"code": "429"}, True),
        ({"code": 401}, False),
        ({"type": "overloaded_error"}, True),
        ({"type": "invalid_request_error"}, False),
        ({"code": "insufficient_quota"}, False),
        ({"message": "?"}, True),
        (None, True),
    ],
)
def test_an_error_inside_a_stream_is_judged_by_its_code(body: Any, may_retry: bool) -> None:
    assert from_stream(body, api_key="").retryable is may_retry
