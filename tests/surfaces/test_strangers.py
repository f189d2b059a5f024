"""The stranger: for an admin of another tenant nothing of this one exists, at any address there is
(L14).

A route joins by itself. One whose parameters or body are not known here fails: add them to `ids`
or `bodies`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from felix_web.tenancy.models import TenantOwned
from tests import make, people
from tests.surfaces.routes import filled, parameters, routes

pytestmark = pytest.mark.django_db

ALL = sorted(set(routes()))
PUBLIC = {"live", "ready", "sign-in/"}
# Reached before any sign-in, or about the session alone: they show and change nothing of a tenant.
SESSION = {"sign-in/", "sign-in/new-password/", "sign-out/"}
# Here a stranger who sends a name that another tenant uses has a thing of their own by that name.
OWN = {
    ("POST", "api/chat"),
    ("POST", "api/chat/"),
    ("POST", "api/chat/stream"),
    ("PUT", "api/manifests/<name>"),
    ("POST", "threads/new/"),
    ("GET", "api/openapi.json"),
}
# Pages that only show something, whatever the method.
READ_ONLY = {
    "",
    "live",
    "ready",
    "threads/",
    "threads/<str:thread_id>/",
    "approvals/",
    "approvals/<str:gate_id>/",
    "manifests/",
    "usage/",
    "audit/",
    "tenants/",
}
NOWHERE = {
    "thread_id": "none",
    "gate_id": "gate_none",
    "grant_id": "grant_none",
    "resume_token": "rt_none",
    "name": "none",
}
ELSEWHERE = {"elsewhere": "not/there"}


@pytest.fixture
def ids() -> dict[str, str]:
    """What alice has: a thread with a run that waits at a gate, of an agent of her tenant."""
    gate = make.gate()
    return {
        "thread_id": "t1",
        "gate_id": gate.pk,
        "grant_id": make.grant(gate).pk,
        "resume_token": gate.run.resume_token,
        "name": "writer",
    }


def bodies(given: dict[str, str]) -> dict[str, Any]:
    """Return a body that each writing route takes, with these ids in it; a dict is JSON, a tuple a
    form."""
    chat = {
        "manifest": "cowork",
        "messages": [{"role": "user", "content": "hi"}],
        "thread_id": given["thread_id"],
    }
    form = {"tenant": "evil", "message": "hi", "agent": "cowork", "key": "act_1"}
    decision = {"tenant": "evil", "decision": "approve", "digest": "x", "revision": "1"}
    return {
        "api/chat": chat,
        "api/chat/": chat,
        "api/chat/stream": chat,
        "api/chat/abort": {"thread_id": given["thread_id"]},
        "api/approvals/<gate_id>/decide": {"decision": "approve"},
        "api/grants/<grant_id>/revoke": {},
        "api/manifests/<name>": make.manifest_text(),
        "api/<path:elsewhere>": {},
        "threads/new/": (form,),
        "threads/<str:thread_id>/send/": (form,),
        "threads/<str:thread_id>/stop/": (form,),
        "approvals/<str:gate_id>/decide/": (decision,),
        "approvals/<str:gate_id>/extend/": (form,),
    }


def call(client: Client, method: str, route: str, given: dict[str, str]) -> Any:
    path = filled(route, given | ELSEWHERE)
    if method in ("GET", "DELETE"):
        return client.generic(method, path)
    body = {} if route in READ_ONLY else bodies(given)[route]
    if isinstance(body, tuple):
        return client.post(path, body[0])
    text = body if isinstance(body, str) else json.dumps(body)
    return client.generic(method, path, text, content_type="application/json")


def stranger() -> Client:
    client = Client(headers={"Authorization": f"Bearer {people.key_of('mallory')}"})
    user = people.member("mallory").user
    user.has_one_time_password = False
    user.save()
    client.force_login(user)
    return client


def rows_of_acme() -> dict[str, list[dict[str, Any]]]:
    home = people.tenant().pk
    kinds = [model for model in apps.get_models() if issubclass(model, TenantOwned)]
    return {
        kind.__name__: list(kind.objects.filter(tenant_id=home).order_by("pk").values())
        for kind in kinds
    }


def content(response: Any) -> bytes:
    return b"" if response.streaming else response.content


def without_ids(response: Any, given: dict[str, str]) -> bytes:
    text = content(response)
    for value in given.values():
        text = text.replace(value.encode(), b"ID")
    return text


@pytest.mark.parametrize(("method", "route"), [(m, r) for m, r in ALL if r not in SESSION])
def test_a_stranger_finds_nothing_and_changes_nothing(ids, method, route):
    client = stranger()
    before = rows_of_acme()

    answer = call(client, method, route, ids)

    assert rows_of_acme() == before
    secrets = (ids["gate_id"], ids["grant_id"], ids["resume_token"], "note.txt")
    assert not any(value.encode() in content(answer) for value in secrets)
    if (method, route) in OWN or not (parameters(route) or route == "api/chat/abort"):
        assert answer.status_code < 400 or answer.status_code == 405
        return
    nobodys = call(client, method, route, NOWHERE)
    assert answer.status_code == nobodys.status_code
    assert answer.status_code in (404, 405)
    assert without_ids(answer, ids) == without_ids(nobodys, NOWHERE)


@pytest.mark.parametrize(("method", "route"), [(m, r) for m, r in ALL if r not in PUBLIC | SESSION])
def test_nobody_at_all_is_asked_who_they_are(method, route):
    answer = call(Client(), method, route, NOWHERE)

    if answer.status_code == 302:
        assert answer.headers["Location"].startswith("/sign-in/")
    else:
        assert answer.status_code == 401


def test_the_walk_sees_the_routes_there_are():
    assert ("POST", "api/approvals/<gate_id>/decide") in ALL
    assert ("GET", "api/chat/stream/<thread_id>") in ALL
    assert ("PUT", "api/manifests/<name>") in ALL


def test_a_route_with_an_unknown_parameter_is_an_error():
    with pytest.raises(KeyError, match="plan_id"):
        filled("api/plans/<plan_id>", NOWHERE)
