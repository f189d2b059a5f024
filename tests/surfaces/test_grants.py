"""`/api/grants`: what was allowed for more than one call, and how it is taken back."""

from __future__ import annotations

import pytest

from approvals.models import Grant
from felix_web.surfaces.rest import answers
from tests import make, people
from tests.surfaces.caller import Caller, refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def grant() -> Grant:
    return make.grant(make.gate())


def test_a_grant_is_listed_with_where_it_comes_from(grant):
    [item] = Caller("bob").get("/api/grants").json()["items"]

    assert item["grant_id"] == grant.pk
    assert item["gate_id"] == grant.gate_id
    assert (item["rule_id"], item["tool"], item["granted_by"]) == ("writes", "write_file", "bob")
    assert (item["thread_id"], item["is_live"], item["revoked_at"]) == ("t1", True, None)


def test_a_list_is_paged(grant):
    second = make.grant(grant.gate)
    bob = Caller("bob")

    first_page = bob.get("/api/grants?limit=1").json()
    next_page = bob.get(f"/api/grants?limit=1&cursor={first_page['next_cursor']}").json()

    shown = [page["items"][0]["grant_id"] for page in (first_page, next_page)]
    assert shown == [second.pk, grant.pk]
    assert next_page["next_cursor"] is None


def test_a_revoked_grant_stays_in_the_list_and_is_not_live(grant):
    bob = Caller("bob")

    answer = bob.post(f"/api/grants/{grant.pk}/revoke")

    assert (answer.status_code, answer.json()["is_live"]) == (200, False)
    assert answers.GrantOut.model_validate(answer.json())
    assert bob.get("/api/grants").json()["items"] == [answer.json()]


def test_revoked_again_is_the_same_answer(grant):
    bob = Caller("bob")

    answers_ = [bob.post(f"/api/grants/{grant.pk}/revoke").json() for _ in range(2)]

    assert answers_[0] == answers_[1]


def test_a_viewer_reads_grants_and_revokes_none(grant):
    carol = Caller("carol")

    assert len(carol.get("/api/grants").json()["items"]) == 1
    refused(carol.post(f"/api/grants/{grant.pk}/revoke"), 403, "missing_scope")


def test_a_key_without_the_scope_sees_none(grant):
    bare = Caller(key=people.key_of("alice", scopes=[]))

    refused(bare.get("/api/grants"), 403, "missing_scope")


def test_a_grant_that_is_not_there_is_not_found(grant):
    refused(Caller("bob").post("/api/grants/grant_none/revoke"), 404, "not_found")
