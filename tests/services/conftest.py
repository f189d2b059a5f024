"""What every test of services runs under: a data directory of its own."""

import pytest

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
