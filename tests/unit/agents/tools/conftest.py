from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.agents.tools.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "ws").mkdir()
    return Bench(tmp_path)
