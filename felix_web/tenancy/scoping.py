"""The only doors to tenants' rows (decisions 3.13).

Each is one transaction that knows whose it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.utils import timezone


def _bind(tenant: str) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('app.tenant_id', %s, true)", [tenant])


@contextmanager
def tenant_scope(tenant_id: int) -> Iterator[None]:
    """Run the block in one writing transaction bound to the tenant; an exception undoes all of it.

    Locks: on SQLite the database's one write lock, at once.
    """
    with transaction.atomic():
        _bind(str(tenant_id))
        yield


@contextmanager
def _unlocked_begin() -> Iterator[None]:
    """Let the next BEGIN on SQLite take no write lock.

    A reader must never wait for, or hold up, the writer.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    connection.ensure_connection()
    sqlite: Any = connection
    before = sqlite.transaction_mode
    sqlite.transaction_mode = "DEFERRED"
    try:
        yield
    finally:
        sqlite.transaction_mode = before


@contextmanager
def tenant_snapshot(tenant_id: int) -> Iterator[None]:
    """Run the block in one reading transaction bound to the tenant.

    Every query in it sees the same moment.
    """
    with _reading(str(tenant_id)):
        yield


@contextmanager
def system_snapshot() -> Iterator[None]:
    """Run the block in one reading transaction over all tenants.

    For credential look-up and for the looks of the sweep and of the lease keeper only: they happen
    all the time, and must never wait for the writer of SQLite.
    """
    with _reading("*"):
        yield


@contextmanager
def _reading(tenant: str) -> Iterator[None]:
    with _unlocked_begin(), transaction.atomic():
        if connection.vendor == "postgresql" and len(connection.savepoint_ids) == 0:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        _bind(tenant)
        yield


@contextmanager
def system_scope() -> Iterator[None]:
    """Run the block in one writing transaction over all tenants.

    For claim, leases, sweep, the first operator and the audit sealer only.

    Locks: on SQLite the database's one write lock, at once.
    """
    with transaction.atomic():
        _bind("*")
        yield


def database_now() -> datetime:
    """Return the time by the database's clock, which judges every deadline (decisions 3.14)."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment
