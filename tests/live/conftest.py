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
def bell(transactional_db):
    """Writers ring the hub. Reads that are under way end before the tables are emptied."""
    install_doorbell(HubBell())
    yield
    install_doorbell(SilentDoorbell())
    let_go()


def let_go() -> None:
    """The hub's threads have done what they were asked, and hold no connection."""
    together = threading.Barrier(READ_THREADS)

    def close():
        together.wait(timeout=20)
        connection.close()

    pool = hub().bridge._pool
    for done in [pool.submit(close) for _ in range(READ_THREADS)]:
        done.result(timeout=20)
