"""Probes, and methods that only read."""

import pytest
from django.test import Client

from tests.surfaces.caller import Caller, refused

pytestmark = pytest.mark.django_db


def test_ready_names_the_scripted_model():
    parts = Client().get("/ready").json()["parts"]

    assert parts["model"] == "scripted"


@pytest.mark.parametrize("path", ["/live", "/ready"])
def test_a_probe_takes_no_other_method_and_says_so_in_plain_text(path):
    answer = Client(enforce_csrf_checks=True).post(path)

    assert answer.status_code == 405
    assert answer.headers["Allow"] == "GET, HEAD"
    assert answer.headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("path", ["/live", "/ready"])
def test_a_probe_answers_head(path):
    answer = Client().head(path)

    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize("path", ["/api/chat/sessions", "/api/approvals", "/api/openapi.json"])
def test_what_can_be_read_answers_head_without_a_body(path):
    answer = Caller("alice").client.head(path)

    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["Content-Type"] == "application/json"


def test_head_of_what_is_not_there_is_404_and_of_what_is_only_sent_405():
    alice = Caller("alice")

    assert alice.client.head("/api/chat/sessions/none").status_code == 404
    answer = alice.client.head("/api/chat/abort")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_a_wrong_method_is_told_which_ones_there_are():
    answer = Caller("alice").client.delete("/api/chat/sessions")

    refused(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET, HEAD"
