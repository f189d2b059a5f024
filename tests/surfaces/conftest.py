"""What every test of surfaces runs under: a data directory of its own."""

import pytest


@pytest.fixture(autouse=True)
def own_data(settings, tmp_path):
    """Workspaces lie in a directory of this test's own; static files are not collected."""
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    settings.WHITENOISE_AUTOREFRESH = True
