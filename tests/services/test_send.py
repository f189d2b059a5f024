"""*send*: key, run, first event and audit are one transaction, or nothing happened."""

import pytest

from agents.core.manifest.bundled import UnknownManifest
from agents.services.sending import Message, NotAnOperator, send
from felix_web.audit.models import AuditEvent
from felix_web.common.errors import NotFound
from sessions.errors import IdempotencyKeyReused, InvalidThreadId, RunInProgress
from sessions.models import Event, IdempotencyKey, Run, Thread
from tests import make, people

pytestmark = pytest.mark.django_db


def counts():
    kinds = (Thread, Run, Event, IdempotencyKey, AuditEvent)
    return [kind.objects.count() for kind in kinds]


def told(thread="t1", **more):
    return Message("writer", ("write note.txt",), thread=thread, **more)


def test_a_message_is_in_the_log_with_its_run():
    make.manifest()

    run = make.run()

    kinds = list(Event.objects.order_by("seq").values_list("kind", flat=True))
    assert kinds == ["user_message", "run_started"]
    assert (run.status, run.manifest, run.manifest_version) == ("queued", "writer", 1)
    assert (run.starter, run.thread.title) == ("alice", "write note.txt")


def test_a_run_never_outlives_its_credential():
    from datetime import timedelta

    from django.utils import timezone

    make.manifest()
    ends = timezone.now() + timedelta(hours=1)
    principal = people.of_key(people.key_of("alice", expires_at=ends))

    assert make.run(principal).expires_at == ends


def test_a_run_keeps_the_version_it_began_with():
    make.manifest()
    run = make.run()
    make.manifest(ttl=60)

    run.refresh_from_db()

    assert run.manifest_version == 1


@pytest.mark.parametrize(
    ("message", "refusal"),
    [
        (told(thread="a:b"), InvalidThreadId),
        (Message("wirter", ("x",), thread="t9"), UnknownManifest),
    ],
    ids=["thread", "manifest"],
)
def test_a_refused_message_leaves_nothing_behind(message, refusal):
    make.manifest()
    alice = people.alice()
    before = counts()

    with pytest.raises(refusal):
        send(principal=alice, message=message)

    assert counts() == before


def test_a_message_to_a_busy_thread_leaves_nothing_behind():
    make.manifest()
    first = make.run()
    before = counts()

    with pytest.raises(RunInProgress) as refusal:
        send(principal=people.bob(), message=told(key="k1", fingerprint="f"))

    assert counts() == before
    assert refusal.value.fields["resume_token"] == first.resume_token


def test_a_viewer_may_not_send():
    make.manifest()

    with pytest.raises(NotAnOperator):
        send(principal=people.carol(), message=told())


def test_a_known_key_returns_the_run_of_then_and_writes_nothing():
    make.manifest()
    alice = people.alice()
    first = send(principal=alice, message=told(key="k1", fingerprint="f"))
    before = counts()

    again = send(principal=alice, message=told(key="k1", fingerprint="f"))

    assert (again.run.pk, again.is_resend, first.is_resend) == (first.run.pk, True, False)
    assert counts() == before


def test_a_known_key_with_another_body_is_refused():
    make.manifest()
    alice = people.alice()
    send(principal=alice, message=told(key="k1", fingerprint="f"))

    with pytest.raises(IdempotencyKeyReused):
        send(principal=alice, message=told(key="k1", fingerprint="g"))


def test_a_deleted_thread_is_not_written_to():
    from django.utils import timezone

    make.manifest()
    make.finished(make.run())
    Thread.objects.update(deleted_at=timezone.now())

    with pytest.raises(NotFound):
        send(principal=people.alice(), message=told())


def test_the_same_thread_id_in_another_tenant_is_another_thread():
    make.manifest()
    make.run()
    message = Message("cowork", ("hello",), thread="t1")

    theirs = send(principal=people.mallory(), message=message).run

    assert Thread.objects.filter(suffix="t1").count() == 2
    assert theirs.tenant_id == people.tenant("evil").pk
