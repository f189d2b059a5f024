"""What streams need of a test: a database that threads share, and rings that arrive."""

import threading

import pytest
from django.db import connection, connections

from agents.hub import READ_THREADS, hub
from felix_web.common.doorbell import SilentDoorbell, install_doorbell


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory):
    """SQLite in memory knows no readers beside a writer, so that the test database is a file."""
    settings = connections.settings["default"]
    if settings["ENGINE"].endswith("sqlite3"):
        name = str(tmp_path_factory.mktemp("database") / "test.sqlite3")
        settings.setdefault("TEST", {})["NAME"] = name
        connections["default"].settings_dict.setdefault("TEST", {})["NAME"] = name


class HubBell(SilentDoorbell):
    """Rings in this process, without a worker."""

    def thread_changed(self, thread_id: int) -> None:
        hub().ring(thread_id)


@pytest.fixture(autouse=True)
def own_data(settings, tmp_path):
    """Workspaces lie in a directory of this test's own."""
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()


@pytest.fixture
def bell():
    """Writers ring the hub."""
    install_doorbell(HubBell())
    yield
    install_doorbell(SilentDoorbell())


@pytest.fixture(autouse=True, scope="session")
def _no_connection_is_left(django_db_setup):
    """The hub's threads let go of the test database before it is dropped."""
    yield
    together = threading.Barrier(READ_THREADS)

    def let_go():
        together.wait(timeout=10)
        connection.close()

    pool = hub().bridge._pool
    for done in [pool.submit(let_go) for _ in range(READ_THREADS)]:
        done.result(timeout=10)
