"""Bad input: refused with its reason, before anything is written."""

import pytest

from felix_web.audit.models import AuditEvent
from sessions.models import Run, Thread
from tests import make
from tests.surfaces.caller import Caller, message, refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    make.manifest()
    return Caller("alice")


@pytest.mark.parametrize(
    "body",
    [
        '{"manifest": "writer"',
        "not json",
        b"\xff\xfe",
        '{"manifest": NaN}',
        '{"manifest": 1e999}',
        '{"manifest": ' + "7" * 5_000 + "}",
        '{"manifest": "a", "manifest": "b"}',
        "[" * 100_000,
    ],
    ids=["cut", "words", "not utf-8", "nan", "infinity", "5000 digits", "twin member", "deep"],
)
def test_malformed_json_is_400(alice, body):
    problem = refused(alice.post("/api/chat", body), 400, "malformed_json")

    assert "sys." not in problem["detail"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (message(colour="red"), "colour"),
        (message([{"type": "image_url", "image_url": {"url": "x"}}]), "messages.0.content.parts"),
        (message(5), "messages.0.content"),
        (message("   "), "messages.0.content"),
        (message([]), "messages.0.content"),
        (message(thread_id=5), "thread_id"),
        (message(manifest=""), "manifest"),
        (message(messages=[]), "messages"),
        (message(messages=[{"role": "assistant", "content": "x"}]), "messages.0.role"),
        (message(messages=[{"role": "user", "content": "x", "name": "y"}]), "messages.0.name"),
        ([], "body"),
        ("", "body"),
    ],
)
def test_a_wrong_shape_is_422_and_names_the_field(alice, body, field):
    problem = refused(alice.post("/api/chat", body), 422, "invalid_input")

    assert problem["errors"][0]["field"].startswith(field)
    assert field in problem["detail"]


def test_an_error_never_repeats_the_value_that_was_sent(alice):
    answer = alice.send(message(thread_id={"password": "hunter2"}))

    assert "hunter2" not in answer.content.decode()


def test_a_field_name_that_hides_is_shown_with_marks_and_cut(alice):
    answer = alice.send(message(**{"\u202e\x1b[31mred" + "x" * 500: 1}))

    field = refused(answer, 422, "invalid_input")["errors"][0]["field"]
    assert "<U+202E>" in field
    assert "\x1b" not in field
    assert len(field) <= 100


@pytest.mark.parametrize("escape", [r"\u0000", r"\ud800"])
def test_text_that_no_database_holds_is_refused(alice, escape):
    body = f'{{"manifest": "writer", "messages": [{{"role": "user", "content": "a{escape}"}}]}}'

    refused(alice.post("/api/chat", body), 422, "invalid_input")


@pytest.mark.parametrize("thread_id", ["", "a:b", "a#b", "a b", "a/b", "a\nb", "..", "x" * 129])
def test_an_impossible_thread_id_is_400(alice, thread_id):
    refused(alice.send(message(thread_id=thread_id)), 400, "invalid_thread_id")


@pytest.mark.parametrize(
    "path",
    [
        "/api/chat/sessions/a:b",
        "/api/chat/history/a%00b",
        "/api/chat/stream/a%20b",
        "/api/approvals?thread_id=a:b",
    ],
)
def test_an_impossible_thread_id_in_an_address_is_400(alice, path):
    refused(alice.get(path), 400, "invalid_thread_id")


@pytest.mark.parametrize("key", ["", "two words", "ä", "x" * 256])
def test_an_impossible_idempotency_key_is_400(alice, key):
    refused(alice.send(key=key), 400, "invalid_idempotency_key")


def test_an_unknown_manifest_is_404(alice):
    refused(alice.send(message(manifest="wirter")), 404, "unknown_manifest")


def test_an_unknown_model_is_400(alice):
    refused(alice.send(message(model="gpt-99")), 400, "unknown_model")


def test_a_refused_message_writes_nothing(alice):
    before = AuditEvent.objects.count()
    alice.send(message(manifest="wirter"), key="k1")
    alice.send(message(model="gpt-99"), key="k1")
    alice.send(message(colour="red"), key="k1")

    assert (Run.objects.count(), Thread.objects.count()) == (0, 0)
    assert AuditEvent.objects.count() == before
    assert alice.send(key="k1").status_code == 202


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "status=open", "status="])
def test_an_impossible_query_is_422(alice, query):
    refused(alice.get(f"/api/approvals?{query}"), 422, "invalid_input")


@pytest.mark.parametrize("cursor", ["x", "1", "1:", "-1:a", "1:A B", "1" * 30 + ":a", "1:%00"])
@pytest.mark.parametrize("path", ["/api/approvals", "/api/chat/sessions"])
def test_a_cursor_that_is_none_is_400(alice, path, cursor):
    refused(alice.get(f"{path}?cursor={cursor}"), 400, "invalid_cursor")


@pytest.mark.parametrize("path", ["/api/nope", "/api/chat/nope/x", "/api/approvals/a/b/c"])
def test_an_address_that_is_not_there_is_404(alice, path):
    refused(alice.get(path), 404, "not_found")


def test_a_wrong_method_is_405_and_names_the_right_one(alice):
    answer = alice.get("/api/chat")

    refused(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "POST"


@pytest.mark.parametrize("path", ["/api/approvals/%00", "/api/chat/runs/%00", "/api/manifests/%00"])
def test_an_id_that_cannot_exist_is_404(alice, path):
    assert Caller("dora").get(path).status_code == 404


def test_no_answer_is_kept_by_a_cache(alice):
    assert alice.get("/api/chat/sessions").headers["Cache-Control"] == "no-store"
