"""A database that another writer holds: 503 in a sentence, and everything as before."""

import threading
from contextlib import contextmanager

import pytest
from django.db import connection, transaction

from sessions.models import Run
from tests import make
from tests.surfaces.caller import Caller, message, refused

pytestmark = pytest.mark.django_db(transaction=True)


def wait_briefly():
    """This connection gives up on a lock after 50 ms instead of 20 seconds."""
    words = (
        "SET lock_timeout = 50" if connection.vendor == "postgresql" else "PRAGMA busy_timeout = 50"
    )
    with connection.cursor() as cursor:
        cursor.execute(words)


@contextmanager
def somebody_writes():
    """Another connection holds the write lock: of the database on SQLite, of the runs on
    PostgreSQL."""
    held, done = threading.Event(), threading.Event()

    def hold():
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                if connection.vendor == "postgresql":
                    cursor.execute("LOCK TABLE agent_sessions_run IN ACCESS EXCLUSIVE MODE")
                held.set()
                done.wait(20)
        finally:
            connection.close()

    writer = threading.Thread(target=hold)
    writer.start()
    held.wait(20)
    try:
        yield
    finally:
        done.set()
        writer.join()


def test_a_locked_database_is_503_and_the_message_can_be_sent_again():
    make.manifest()
    alice = Caller("alice")
    alice.get("/api/manifests/writer")
    wait_briefly()

    with somebody_writes():
        answer = alice.send(message(), key="k1")

    refused(answer, 503, "store_unavailable")
    assert "lock" not in answer.content.decode().lower()
    assert Run.objects.count() == 0
    assert alice.send(message(), key="k1").status_code == 202
