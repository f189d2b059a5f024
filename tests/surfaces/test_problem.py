"""Errors on the wire: one table, one shape, nothing that was not meant for the caller."""

import errno
import json

import pytest
from django.db import DatabaseError, DataError, IntegrityError, InterfaceError, OperationalError

from felix_web.common.errors import FelixError, NotFound
from felix_web.logs import bind_request
from felix_web.surfaces.problem import problem_of, problem_response, status_of

# What no request meets: the driver's, the starter's and the worker's own.
INNER = {
    "internal",
    "lease_lost",
    "gate_spent",
    "already_up",
    "provider_error",
    "other_tenant",
    "stream_broken",
}


def families(kind=FelixError):
    yield kind
    for child in kind.__subclasses__():
        yield from families(child)


def body_of(response):
    return json.loads(response.content)


def test_every_error_that_a_request_can_meet_has_a_status():
    from felix_web.surfaces.rest import api  # noqa: F401  every module of the surface is loaded

    product = [kind for kind in families() if not kind.__module__.startswith("tests")]
    silent = {kind.code for kind in product if status_of(kind.__new__(kind)) == 500}

    assert silent <= INNER


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("database is locked at /var/secret.sqlite3"),
        OperationalError("database or disk is full"),
        InterfaceError("connection already closed"),
        DatabaseError("database disk image is malformed"),
        OSError(errno.ENOSPC, "No space left on device", "/var/secret"),
    ],
)
def test_a_store_that_cannot_be_used_is_503_without_the_drivers_words(error):
    body = body_of(problem_response(error))

    assert (body["status"], body["code"]) == (503, "store_unavailable")
    assert "secret" not in json.dumps(body)
    assert "locked" not in json.dumps(body)


@pytest.mark.parametrize(
    "error",
    [ValueError("secret"), KeyError("secret"), IntegrityError("secret"), DataError("secret")],
)
def test_a_mistake_of_ours_is_500_with_the_request_id_and_nothing_else(error, caplog):
    with bind_request(request_id="req_1"):
        body = body_of(problem_response(error))

    assert (body["status"], body["code"], body["request_id"]) == (500, "internal", "req_1")
    assert "secret" not in json.dumps(body)
    assert [record.getMessage() for record in caplog.records] == ["request_crashed"]


def test_a_members_name_cannot_take_the_place_of_the_problems_own():
    body = problem_of(NotFound("gone", code="ok", title="ok", detail="ok", type="ok"))

    assert (body["code"], body["detail"], body["title"]) == ("not_found", "gone", "Not found")


def test_what_hides_in_an_error_is_made_visible_and_cut():
    body = problem_of(NotFound("\x1b[2J\u202e" + "x" * 9000, near="a\u200bb"))

    assert body["detail"].startswith("<ESC>[2J<U+202E>x")
    assert len(body["detail"]) < 4100
    assert body["near"] == "a<U+200B>b"


def test_a_broken_deployment_does_not_tell_callers_about_its_files(caplog):
    from felix_web.env import EnvError

    body = problem_of(EnvError("The models file /etc/secret cannot be read."))

    assert (body["status"], body["code"]) == (503, "configuration")
    assert "/etc" not in json.dumps(body)
    assert "/etc/secret" in caplog.records[0].detail
