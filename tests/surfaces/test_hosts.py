"""A request for a host that is not served here goes nowhere, whatever its address."""

import pytest
from django.test import Client

from tests import people
from tests.surfaces.caller import Caller, refused

pytestmark = pytest.mark.django_db

FOREIGN = {"host": "evil.test"}


@pytest.mark.parametrize("path", ["/", "/sign-in/", "/threads/", "/static/css/base.css", "/none"])
def test_a_page_is_400_in_plain_words(path):
    answer = Client(raise_request_exception=False).get(path, headers=FOREIGN)

    assert answer.status_code == 400
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert "FELIX_ALLOWED_HOSTS" in answer.content.decode()
    assert "evil.test" not in answer.content.decode()


@pytest.mark.parametrize("path", ["/api/chat/sessions", "/api/openapi.json", "/api/none"])
def test_an_api_address_is_400_as_a_problem(path):
    answer = Caller("alice").get(path, headers=FOREIGN)

    refused(answer, 400, "unknown_host")


def test_a_refused_host_starts_no_run():
    alice = Caller("alice", Host="evil.test")

    refused(alice.send(), 400, "unknown_host")


def test_an_open_door_is_400_too_and_no_fault_of_ours(settings, caplog):
    settings.AUTH_MODE, settings.IS_LOOPBACK = "none", True
    people.member("dora")

    answer = Caller().get("/api/chat/sessions", headers=FOREIGN)

    refused(answer, 400, "unknown_host")
    assert "request_crashed" not in caplog.text


@pytest.mark.parametrize("host", ["a b", "a/b", "[::1", "evil.test:99999x"])
def test_a_host_that_is_none_is_400(host):
    refused(Caller("alice").get("/api/chat/sessions", headers={"host": host}), 400, "unknown_host")


@pytest.mark.parametrize("path", ["/live", "/ready"])
def test_a_probe_answers_to_any_name(path):
    assert Client().get(path, headers=FOREIGN).status_code == 200
