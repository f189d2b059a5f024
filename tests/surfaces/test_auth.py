"""Who may ask: every way to carry a key, and everything that is not one."""

from datetime import timedelta

import pytest
from django.utils import timezone

from felix_web.tenancy.models import ApiKey, Membership
from tests import people
from tests.surfaces.caller import Caller, refused

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("header", ["Bearer {}", "bearer {}", "ApiKey {}", "APIKEY   {} "])
def test_a_key_is_taken_from_the_authorization_header(header):
    caller = Caller(Authorization=header.format(people.key_of("alice")))

    assert caller.get("/api/chat/sessions").status_code == 200


def test_a_key_is_taken_from_x_api_key():
    caller = Caller(**{"X-Api-Key": people.key_of("alice")})

    assert caller.get("/api/chat/sessions").status_code == 200


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic YTpi", "fx_only", "Bearer fx_wrong"]
)
def test_anything_else_is_401_and_says_what_to_send(header):
    answer = Caller(Authorization=header).get("/api/chat/sessions")

    refused(answer, 401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_two_headers_with_different_keys_are_refused():
    caller = Caller("alice", **{"X-Api-Key": people.key_of("bob")})

    refused(caller.get("/api/chat/sessions"), 401, "unauthenticated")


def test_a_revoked_key_is_refused():
    caller = Caller("alice")
    ApiKey.objects.update(revoked_at=timezone.now())

    refused(caller.get("/api/chat/sessions"), 401, "unauthenticated")


def test_a_lapsed_key_is_refused():
    past = timezone.now() - timedelta(seconds=1)
    caller = Caller(key=people.key_of("alice", expires_at=past))

    refused(caller.get("/api/chat/sessions"), 401, "unauthenticated")


def test_a_key_of_somebody_who_left_is_refused():
    caller = Caller("alice")
    Membership.objects.update(removed_at=timezone.now())

    refused(caller.get("/api/chat/sessions"), 401, "unauthenticated")


def test_unknown_and_revoked_keys_are_answered_alike():
    revoked = Caller("alice")
    ApiKey.objects.update(revoked_at=timezone.now())

    answers = {
        caller.get("/api/chat/sessions").content for caller in (revoked, Caller(key="fx_none"))
    }

    assert len(answers) == 1


def test_without_authentication_everybody_is_the_first_admin_of_default(settings):
    from felix_web.tenancy.services import create_first_operator

    create_first_operator()
    settings.AUTH_MODE, settings.IS_LOOPBACK = "none", True

    assert Caller().get("/api/manifests").status_code == 200


def test_without_authentication_nobody_is_let_in_from_outside(settings):
    settings.AUTH_MODE, settings.IS_LOOPBACK = "none", False

    refused(Caller().get("/api/manifests"), 401, "unauthenticated")


@pytest.mark.parametrize(
    "header", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_without_authentication_a_foreign_page_is_not_let_in(settings, header):
    from felix_web.tenancy.services import create_first_operator

    create_first_operator()
    settings.AUTH_MODE, settings.IS_LOOPBACK = "none", True

    refused(Caller(**header).get("/api/manifests"), 401, "unauthenticated")


def test_a_wrong_key_is_refused_even_without_authentication(settings):
    settings.AUTH_MODE, settings.IS_LOOPBACK = "none", True

    refused(Caller(key="fx_wrong").get("/api/manifests"), 401, "unauthenticated")


def test_the_openapi_document_is_for_any_valid_key_and_nobody_else():
    document = Caller("carol").get("/api/openapi.json")

    assert "/api/chat/stream" in document.json()["paths"]
    refused(Caller().get("/api/openapi.json"), 401, "unauthenticated")
