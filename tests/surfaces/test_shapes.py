"""Every answer is what the OpenAPI document says, member for member."""

import pytest

from felix_web.surfaces.rest import answers
from felix_web.surfaces.rest.api import api
from sessions.models import Run
from tests import make
from tests.surfaces.caller import Caller, message

pytestmark = pytest.mark.django_db


@pytest.fixture
def gate():
    gate = make.gate()
    make.grant(gate)
    return gate


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/api/approvals", answers.ListOut[answers.GateOut]),
        ("/api/approvals/{gate}", answers.GateOut),
        ("/api/grants", answers.ListOut[answers.GrantOut]),
        ("/api/chat/sessions", answers.ListOut[answers.ThreadOut]),
        ("/api/chat/history/t1", answers.HistoryOut),
        ("/api/chat/runs/{token}", answers.RunStateOut),
        ("/api/manifests", answers.ListOut[answers.ManifestNameOut]),
        ("/api/manifests/writer", answers.ManifestOut),
    ],
)
def test_what_is_read_has_the_shape_that_is_documented(gate, path, shape):
    path = path.format(gate=gate.pk, token=gate.run.resume_token)

    body = Caller("dora").get(path).json()

    assert shape.model_validate(body)
    assert body.get("items") != []


def test_what_an_act_answers_has_the_shape_that_is_documented(gate):
    dora = Caller("dora")

    accepted = dora.send(message(thread_id="t2")).json()
    decided = dora.decide(gate.pk).json()
    stored = dora.put("/api/manifests/other", make.manifest_text("other")).json()

    assert answers.AcceptedOut.model_validate(accepted)
    assert answers.GateOut.model_validate(decided)
    assert answers.ManifestOut.model_validate(stored)


def test_a_refusal_has_the_shape_that_is_documented(gate):
    dora = Caller("dora")

    problem = dora.decide(gate.pk, digest="wrong").json()

    assert answers.ProblemOut.model_validate(problem)
    assert answers.GateOut.model_validate(problem["gate"])


def test_an_ended_run_has_the_shape_that_is_documented(gate):
    from felix_web.surfaces.rest.sending import ended_answer
    from tests import people

    run = Run.objects.get()

    body = ended_answer(principal=people.dora(), token=run.resume_token)

    assert answers.EndedOut.model_validate(body)
    assert [row["gate_id"] for row in body["gates"]] == [gate.pk]


def test_an_ended_run_shows_no_gates_to_who_may_not_read_them(gate):
    from felix_web.surfaces.rest.sending import ended_answer
    from tests import people

    bare = people.of_key(people.key_of("alice", scopes=[]))

    assert ended_answer(principal=bare, token=gate.run.resume_token)["gates"] == []


def test_every_documented_route_says_what_it_answers():
    document = api.get_openapi_schema(path_prefix="/api/")

    silent = [
        (path, method)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if not operation["responses"] or not operation.get("security")
    ]

    assert silent == []
