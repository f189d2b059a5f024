"""Redaction: what opens a door is masked, what only looks a little like it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from felix_web.common.ids import new_id, new_secret
from felix_web.common.redaction import is_secret_name, redact

PIECES = st.sampled_from(
    [
        *("sk-", "fx_", "AKIA", "ghp_", "eyJ", "Bearer ", "Authorization: ", "password=", "token:"),
        *("api_key", '"', "'", "\\", "://", "u:p", "@", ":", "=", ".", ",", " ", "\n", "***"),
        *("abcdefgh12345678", "A" * 16, "0" * 60, "-----BEGIN A KEY-----", "-----END A KEY-----"),
        *("\ud800", "ſK", "é", "-", "_", "}"),
    ]
)
MIXED = st.lists(PIECES | st.text(max_size=3), max_size=16).map("".join)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("key sk-ant-api03-abcdefgh is wrong", "key *** is wrong"),
        ("gho_" + "a" * 36, "***"),
        ("AKIA" + "Q" * 16, "***"),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2ln", "***"),
        ("sent Bearer abc.def-123", "sent Bearer ***"),
        ("Authorization: Basic dXNlcjpwYXNz\nnext", "Authorization: ***\nnext"),
        ("{'Authorization': 'Token 1'}", "{'Authorization': ***}"),
        ("postgres://ana:s3:cr@t@db:5432/x", "postgres://ana:***@db:5432/x"),
        ('{"password": "my \\"long\\" one", "n": 1}', '{"password": "***", "n": 1}'),
        ("DB_PASSWORD=hunter2; next", "DB_PASSWORD=***; next"),
        ("api-key: abc, model: x", "api-key: ***, model: x"),
        ("a -----BEGIN RSA PRIVATE KEY-----\nMI\n-----END RSA PRIVATE KEY----- b", "a *** b"),
        ("password: -----BEGIN PRIVATE KEY-----\nMIIcut off", "password: ***"),
    ],
)
def test_a_credential_is_masked(text, masked):
    assert redact(text) == masked


@pytest.mark.parametrize("prefix", ["fx", "resume", "otp"])
def test_every_secret_that_felix_mints_is_masked(prefix):
    assert redact(f"key={new_secret(prefix)}.") == "key=***."


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens: 4096, total_tokens=12",
        "the secretary: Ana",
        "task-list-is-long-enough and disk-usage-monitoring",
        "http://127.0.0.1:8000/threads/?a=b@c",
        "run_interrupted by sweep at 12:00:01",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert redact(text) == text


def test_an_id_is_no_secret():
    identifier = new_id("run")

    assert redact(identifier) == identifier


@given(MIXED | st.text(st.characters(exclude_categories=())))
def test_redacting_twice_changes_nothing_more(text):
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "unit",
    ["://", "a:", "password='", 'secret="', "-----BEGIN A-----", "eyJaaaaaaaa.", "sk-", "a_"],
)
def test_the_work_grows_with_the_length_only(unit):
    """A quadratic pattern would need minutes here."""
    text = unit * (400_000 // len(unit))

    assert len(redact(text)) <= len(text) + 3


def test_names_of_credentials_are_known():
    assert all(map(is_secret_name, ["password", "api_key", "OPENAI_API_KEY", "Authorization"]))
    assert not any(map(is_secret_name, ["max_tokens", "key", "run_id", "secret_count"]))
