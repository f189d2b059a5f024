"""What every test of surfaces runs under: a data directory of its own, and rings that arrive."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from agents.hub import hub
from felix_web.common.doorbell import SilentDoorbell, install_doorbell
from tests.live.conftest import (  # noqa: F401  fixtures
    _no_connection_is_left,
    django_db_modify_db_settings,
)


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

    def run_ready(self, run_id: str) -> None:
        self._loop.call_soon_threadsafe(self._ready.put_nowait, run_id)

    def thread_changed(self, thread_id: int) -> None:
        hub().ring(thread_id)

    async def next_run(self) -> str:
        """Return the next run that was rung for."""
        return await asyncio.wait_for(self._ready.get(), 10)


@pytest.fixture
async def bell() -> AsyncIterator[Bell]:
    """The doorbell of this process, for the length of the test."""
    made = Bell()
    install_doorbell(made)
    yield made
    install_doorbell(SilentDoorbell())
