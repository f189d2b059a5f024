"""What models.yaml says of a model holds for every run of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from agents.core.driver import Driver
from agents.profiles import deployment_models, provider_for
from agents.runtime import ToolThreads, Workbench, driver_for
from agents.services.claiming import Claimed
from agents.store import Bridge
from agents.views.thread_page import read_thread, thread_context
from tests import make, people

pytestmark = pytest.mark.django_db(transaction=True)
MODELS = """
providers: {local: {base_url: "http://127.0.0.1:9/v1"}}
models: {small: {provider: local, model_id: small, max_turns: 3, context_window: 110}}
"""


@pytest.fixture(autouse=True)
def models(settings) -> Iterator[None]:
    """The deployment has one small model."""
    (settings.DATA_DIR / "models.yaml").write_text(MODELS)
    deployment_models.cache_clear()
    provider_for.cache_clear()
    yield
    deployment_models.cache_clear()
    provider_for.cache_clear()


async def driver_of(taken: Claimed) -> Driver:
    bench = Workbench(Bridge(1), ToolThreads(1), lambda thread_id, frame: None)
    try:
        return await driver_for(taken, bench)
    finally:
        bench.threads.close()
        bench.bridge.close()


def test_a_run_has_no_more_turns_than_its_model_allows():
    make.manifest()
    taken = make.claimed(make.run())

    driver = asyncio.run(driver_of(taken))

    assert driver.view.facts.limits.recursion_limit == 3


def test_the_thread_page_shows_the_bounds_of_the_model_and_how_full_its_window_is():
    make.manifest()
    make.finished(make.run())
    alice = people.alice()

    view = read_thread(principal=alice, thread_id="t1", before_seq=None)
    meters = {one.name: one for one in thread_context(principal=alice, view=view)["meters"]}

    assert (meters["Turns"].value, meters["Turns"].of) == ("1", "3")
    assert (meters["Context"].value, meters["Context"].of) == ("10 %", "110 tokens")
