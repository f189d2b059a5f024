"""The strict fake, and an adapter that talks to it."""

from collections.abc import AsyncIterator, Iterator

import pytest

from agents.core.providers.chat_completions import ChatCompletions
from tests.fakes.provider import FakeProvider
from tests.unit.agents.providers.helpers import profile


@pytest.fixture(scope="module")
def server() -> Iterator[FakeProvider]:
    with FakeProvider() as fake:
        yield fake


@pytest.fixture
def fake(server: FakeProvider) -> FakeProvider:
    server.reset()
    return server


@pytest.fixture
async def model(fake: FakeProvider) -> AsyncIterator[ChatCompletions]:
    adapter = ChatCompletions(profile(fake.base_url, read_timeout_seconds=10.0), "sk-test-secret-1")
    yield adapter
    await adapter.aclose()
