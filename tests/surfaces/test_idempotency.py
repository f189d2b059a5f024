"""A resent message never runs twice (L10)."""

import pytest

from sessions.models import Event, Run
from tests import make, people
from tests.surfaces.caller import Caller, message, refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    make.manifest()
    return Caller("alice")


def test_a_resend_while_the_run_is_going_is_409_with_its_token(alice):
    token = alice.send(key="k1").json()["resume_token"]

    problem = refused(alice.send(key="k1"), 409, "idempotency_in_progress")

    assert problem["resume_token"] == token
    assert Run.objects.count() == 1


def test_a_resend_after_the_end_is_answered_as_the_first_time(alice):
    first = alice.send(key="k1")
    make.finished(Run.objects.get())
    events = Event.objects.count()

    again = alice.send(key="k1")

    assert (again.status_code, again.json()) == (202, first.json())
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert (Run.objects.count(), Event.objects.count()) == (1, events)


def test_another_body_under_the_key_is_422(alice):
    alice.send(key="k1")

    refused(alice.send(message("something else"), key="k1"), 422, "idempotency_key_reused")


@pytest.mark.parametrize(
    "same",
    [message([{"text": "write note.txt"}]), message(model=None), message(model="")],
    ids=["parts", "null model", "empty model"],
)
def test_another_spelling_of_the_same_message_is_the_same_message(alice, same):
    alice.send(key="k1")

    refused(alice.send(same, key="k1"), 409, "idempotency_in_progress")


def test_a_refused_send_leaves_its_key_free(alice):
    alice.send()
    refused(alice.send(message("more"), key="k1"), 409, "run_in_progress")
    make.finished(Run.objects.get())

    assert alice.send(message("other"), key="k1").status_code == 202


def test_a_key_is_its_principals_own(alice):
    alice.send(key="k1")

    answer = Caller("bob").send(message("mine", thread_id="t2"), key="k1")

    assert answer.status_code == 202


def test_two_keys_of_one_member_are_one_principal(alice):
    alice.send(key="k1")

    refused(Caller("alice").send(key="k1"), 409, "idempotency_in_progress")


def test_an_ownerless_key_is_a_principal_of_its_own(alice):
    alice.send(key="k1")
    bot = Caller(key=people.ownerless_key())

    assert bot.send(message(thread_id="t2"), key="k1").status_code == 202


def test_a_message_without_a_thread_can_be_resent_under_its_key(alice):
    body = message(thread_id=None)
    alice.send(body, key="k1")
    make.finished(Run.objects.select_related("thread").get())

    assert alice.send(body, key="k1").headers["Idempotent-Replayed"] == "true"


def test_a_key_past_its_24_hours_is_free_again(alice):
    from sessions.models import IdempotencyKey

    alice.send(key="k1")
    make.finished(Run.objects.get())
    row = IdempotencyKey.objects.get()
    IdempotencyKey.objects.update(expires_at=row.created_at)

    assert alice.send(message("new"), key="k1").status_code == 202
