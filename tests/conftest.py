"""What every test runs under."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# A property is about what is true, not about how fast this machine is today.
settings.register_profile("felix", deadline=None)
settings.load_profile("felix")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The test database can be dropped: PostgreSQL ends what threads of ended tests still hold."""
    yield
    from django.db import connection

    with django_db_blocker.unblock():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
