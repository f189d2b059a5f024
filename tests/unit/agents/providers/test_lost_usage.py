"""Tokens that may have been used and that nobody reports are never called certain."""

import asyncio
from dataclasses import replace

import pytest

from agents.core.asking import Answer, Model, ask
from agents.core.prompt import Prompt
from agents.core.providers.base import ProviderError
from agents.core.providers.chat_completions import ChatCompletions
from agents.core.providers.profiles import Price, Retry
from agents.core.view import RunView
from sessions.core.events import Event, EventKind
from tests.fakes.provider import FakeProvider, Step, ThinkingBlock
from tests.unit.agents.facts import RUN, view
from tests.unit.agents.providers.helpers import ask as request_of
from tests.unit.agents.providers.helpers import failure, profile

QUICK = Retry(max_attempts=2, base_delay_seconds=0.0)
BROKEN_OFF = Step(thinking=(ThinkingBlock("a long thought that breaks off"),), die_at=300)


class Silent:
    """Nobody reads."""

    def begin(self, message_id: str) -> None: ...

    def text(self, message_id: str, more: str) -> None: ...

    def thinking(self, message_id: str, more: str) -> None: ...

    def end(self, message_id: str) -> None: ...


class Still:
    """A clock that stands."""

    def now_ms(self) -> int:
        return 0

    def monotonic(self) -> float:
        return 0.0


async def asked(model: ChatCompletions, seen: RunView) -> Answer:
    prompt = Prompt(model, system="", tools=())
    prompt.add(Event(0, 0, EventKind.USER_MESSAGE, RUN, 0, {"content": "hello", "by": "ana"}))
    priced = replace(model._profile, retry=QUICK, price=Price(1.0, 1.0, 1.0, 1.0))
    return await ask(
        Model(model, priced, (), None, None),
        prompt,
        seen,
        known_call_ids=set(),
        deadline_seconds=20.0,
        sink=Silent(),
        clock=Still(),
    )


async def test_a_refused_attempt_leaves_the_usage_certain(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(Step(status=500), Step(text="hello"))

    answer = await asked(model, seen := view())

    assert answer.metered.usage.certain
    assert not seen.is_usage_lost


async def test_an_attempt_that_broke_off_makes_the_usage_uncertain_and_keeps_the_known_cost(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(BROKEN_OFF, Step(text="hello"))

    answer = await asked(model, seen := view())

    assert not answer.metered.usage.certain
    assert answer.metered.cost_usd_micros
    assert seen.is_usage_lost


async def test_a_failure_after_an_attempt_that_broke_off_says_that_usage_was_lost(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(BROKEN_OFF, Step(status=500))

    with pytest.raises(ProviderError) as failed:
        await asked(model, seen := view())

    assert failed.value.is_usage_lost
    assert seen.is_usage_lost


async def test_a_request_that_is_cut_off_says_that_usage_was_lost(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(Step(hang=True))
    asking = asyncio.create_task(asked(model, seen := view()))
    await asyncio.to_thread(fake.wait_for_request)

    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)

    assert seen.is_usage_lost


async def test_silence_until_the_read_timeout_may_have_used_tokens(fake: FakeProvider) -> None:
    hasty = ChatCompletions(profile(fake.base_url, read_timeout_seconds=0.1), "sk-1")
    fake.script(Step(hang=True))

    error = await failure(hasty, request_of(hasty))
    await hasty.aclose()

    assert error.is_usage_lost


async def test_a_server_that_is_not_there_has_used_nothing() -> None:
    nowhere = ChatCompletions(profile("http://127.0.0.1:9"), "sk-1")

    error = await failure(nowhere, request_of(nowhere))
    await nowhere.aclose()

    assert (error.retryable, error.is_usage_lost) == (True, False)
