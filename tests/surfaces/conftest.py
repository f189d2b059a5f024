"""What every test of surfaces runs under: a data directory of its own, and rings that arrive."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from django.db import connection

from agents.hub import hub
from felix_web.common.doorbell import SilentDoorbell, install_doorbell
from tests.database import keep_in_a_file, let_go


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory):
    keep_in_a_file(tmp_path_factory.mktemp("database"))


@pytest.fixture(autouse=True)
def own_data(settings, tmp_path):
    """Workspaces lie in a directory of this test's own; static files are not collected."""
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    settings.WHITENOISE_AUTOREFRESH = True


class Bell(SilentDoorbell):
    """Rings readers of this process, and tells the test which runs a worker would take now."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Queue[str] = asyncio.Queue()
        self._stopped: asyncio.Queue[str] = asyncio.Queue()

    def run_ready(self, run_id: str) -> None:
        self._loop.call_soon_threadsafe(self._ready.put_nowait, run_id)

    def run_stopped(self, run_id: str) -> None:
        self._loop.call_soon_threadsafe(self._stopped.put_nowait, run_id)

    def thread_changed(self, thread_id: int) -> None:
        hub().ring(thread_id)

    async def next_run(self) -> str:
        """Return the next run that was rung for."""
        return await asyncio.wait_for(self._ready.get(), 10)

    async def next_stop(self) -> str:
        """Return the next run whose driver was told to end."""
        return await asyncio.wait_for(self._stopped.get(), 10)

    async def somebody_reads(self, thread_id: int) -> None:
        """Return once a request follows the thread."""
        async with asyncio.timeout(10):
            while hub()._topic(thread_id) is None:
                await asyncio.sleep(0)


@pytest.fixture
async def bell(transactional_db) -> AsyncIterator[Bell]:
    """The doorbell of this process, for the length of the test."""
    made = Bell()
    install_doorbell(made)
    yield made
    install_doorbell(SilentDoorbell())
    let_go()
    await sync_to_async(lambda: connection.close())()
