"""Rows of the hot path are stored exactly as the ORM would store them."""

import pytest
from django.db import connection
from django.utils import timezone

from felix_web.audit.models import AuditEvent
from felix_web.tenancy.rows import ROWS_PER_STATEMENT, insert_rows
from sessions.models import Event, Thread
from tests import people

pytestmark = pytest.mark.django_db


def raw(model, pk):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {model._meta.db_table} WHERE id = %s", [pk])
        names = [column[0] for column in cursor.description]
        return dict(zip(names, cursor.fetchone(), strict=True))


def event(thread, seq):
    return Event(
        tenant_id=thread.tenant_id,
        thread=thread,
        seq=seq,
        branch=0,
        kind="note",
        payload={"text": "é\u2028'\"", "n": [1, None, True]},
        at=timezone.now().replace(microsecond=120_000),
    )


def audit(**facts):
    return AuditEvent(tenant_id=people.tenant().pk, act="tried", facts=facts)


@pytest.fixture
def thread():
    return Thread.objects.create(tenant=people.tenant(), suffix="t")


def test_a_row_is_stored_as_the_orm_stores_it(thread):
    ours, theirs = event(thread, 0), event(thread, 1)
    theirs.at = ours.at

    insert_rows([ours])
    Event.objects.bulk_create([theirs])

    first, second = (raw(Event, row.pk) for row in Event.objects.order_by("seq"))
    assert first | {"id": 0, "seq": 0} == second | {"id": 0, "seq": 0}


def test_a_column_that_the_database_fills_is_left_to_it():
    insert_rows([audit(n=1)])

    stored = AuditEvent.objects.get()
    assert stored.facts == {"n": 1}
    assert abs((timezone.now() - stored.at).total_seconds()) < 60


def test_rows_keep_their_order_over_several_statements():
    count = ROWS_PER_STATEMENT + 3

    insert_rows([audit(n=number) for number in range(count)])

    numbers = [row.facts["n"] for row in AuditEvent.objects.order_by("pk")]
    assert numbers == list(range(count))


def test_no_rows_are_no_statement(django_assert_num_queries):
    with django_assert_num_queries(0):
        insert_rows([])
