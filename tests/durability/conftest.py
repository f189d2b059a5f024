"""One instance for all tests that leave it running, and the table of what its kills came to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.durability.figures import Ledger, keep
from tests.durability.harness import IS_PRODUCTION, SHAPE, Felix
from tests.durability.talk import put_agents
from tests.fakes.provider import FakeProvider

HERE = Path(__file__).parent
# What only one of the two shapes has; the full disk is a mount, which takes root.
OTHERS = ["test_embedded_*.py"] if IS_PRODUCTION else ["test_production_*.py"]
collect_ignore_glob = [*OTHERS, *([] if os.getuid() == 0 else ["test_embedded_full_disk.py"])]
LEDGER = Ledger(SHAPE.shape)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.durability)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if LEDGER.kills:
        terminalreporter.section(f"kills: {LEDGER.shape}")
        terminalreporter.write_line(LEDGER.table())


def pytest_sessionfinish() -> None:
    if LEDGER.kills and os.environ.get("KILLS"):
        keep(LEDGER)


@pytest.fixture(scope="session")
def ledger() -> Ledger:
    return LEDGER


@pytest.fixture(scope="session")
def fake() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, fake: FakeProvider) -> Iterator[Felix]:
    """The instance that every test finds running, with the agents of talk.py stored."""
    instance = SHAPE(tmp_path_factory.mktemp("felix"), fake)
    try:
        instance.start()
        put_agents(instance.client)
        yield instance
    finally:
        instance.close()


@pytest.fixture
def felix(shared: Felix) -> Iterator[Felix]:
    """The shared instance, whole again after each test."""
    shared.restart()
    yield shared
    shared.disarm()
    shared.restart()


@pytest.fixture
def own(tmp_path: Path, fake: FakeProvider) -> Iterator[Callable[..., Felix]]:
    """Makes instances of a test's own; `own(NAME="value")` sets further FELIX_ variables."""
    made: list[Felix] = []

    def make(**settings: str) -> Felix:
        home = tmp_path / f"felix-{len(made)}"
        home.mkdir()
        made.append(SHAPE(home, fake, **settings))
        return made[-1]

    yield make
    for instance in made:
        instance.close()
