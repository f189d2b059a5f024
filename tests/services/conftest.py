"""What every test of services runs under: a data directory of its own, a database of many
threads."""

import pytest

from tests.database import keep_in_a_file


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory):
    keep_in_a_file(tmp_path_factory.mktemp("database"))


@pytest.fixture(autouse=True)
def own_data(settings, tmp_path):
    """Workspaces lie in a directory of this test's own."""
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
