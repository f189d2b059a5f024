"""When a model is asked again, and when never."""

from contextlib import aclosing
from typing import Any

import pytest

from agents.core.providers.base import Completed, ModelRequest, ProviderError
from agents.core.providers.chat_completions import ChatCompletions
from agents.core.providers.profiles import Retry
from agents.core.providers.retry import Retrying, delay_seconds, stream_with_retries
from tests.fakes.provider import FakeProvider, Step, ThinkingBlock
from tests.unit.agents.providers.helpers import ask, shown_text

RETRY = Retry(max_attempts=3, base_delay_seconds=2.0, max_delay_seconds=60.0)
BROKEN = Step(status=500)


class Pauses(list[float]):
    """Remembers how long it was asked to sleep, and does not."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


async def answered(
    model: ChatCompletions,
    pauses: Pauses,
    retry: Retry = RETRY,
    request: ModelRequest | None = None,
) -> list[Any]:
    request = request or ask(model)
    stream = stream_with_retries(model, request, retry, sleep=pauses, chance=lambda: 1.0)
    return [item async for item in stream]


async def test_a_first_answer_is_passed_on_as_it_comes(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(Step(text="hello"))

    found = await answered(model, pauses := Pauses())

    assert shown_text(found) == "hello"
    assert isinstance(found[-1], Completed)
    assert pauses == []


async def test_failures_are_announced_and_the_pauses_double(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(BROKEN, Step(empty=True), Step(text="hello"))

    found = await answered(model, pauses := Pauses())

    notices = [item for item in found if isinstance(item, Retrying)]
    assert [(n.attempt, n.delay_seconds) for n in notices] == [(2, 2.0), (3, 4.0)]
    assert pauses == [2.0, 4.0]
    assert shown_text(found) == "hello"


async def test_the_last_failure_says_how_many_attempts_there_were(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(BROKEN, BROKEN, Step(status=529))

    with pytest.raises(ProviderError, match=r"overloaded\. Gave up after 3 attempts\.") as caught:
        await answered(model, Pauses())

    assert caught.value.status == 529
    assert len(fake.requests) == 3


@pytest.mark.parametrize(
    "step",
    [
        Step(status=400),
        Step(status=401),
        Step(status=403),
        Step(status=404),
        Step(status=429, error_code="insufficient_quota"),
    ],
)
async def test_a_lasting_failure_is_not_tried_again(
    fake: FakeProvider, model: ChatCompletions, step: Step
) -> None:
    fake.script(step)

    with pytest.raises(ProviderError, match="after 1 attempt"):
        await answered(model, Pauses())

    assert len(fake.requests) == 1


async def test_nothing_is_tried_again_once_text_was_shown(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(Step(text="ten words or so that were seen", die_at=700), Step(text="another"))

    with pytest.raises(ProviderError, match="after 1 attempt"):
        await answered(model, Pauses())

    assert len(fake.requests) == 1


async def test_reasoning_that_was_shown_does_not_forbid_another_attempt(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    thinking = (ThinkingBlock("a long thought that breaks off"),)
    fake.script(Step(thinking=thinking, text="never seen", die_at=700), Step(text="hello"))

    found = await answered(model, Pauses())

    kinds = [type(item).__name__ for item in found]
    assert kinds.index("ThinkingDelta") < kinds.index("Retrying") < kinds.index("TextDelta")
    assert shown_text(found) == "hello"


async def test_retry_after_is_honoured_and_capped(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    limited = [Step(status=429, retry_after="10"), Step(status=429, retry_after="3600")]
    fake.script(*limited, Step(text="hello"))

    await answered(model, pauses := Pauses())

    assert pauses == [10.0, 60.0]


async def test_one_attempt_means_one(fake: FakeProvider, model: ChatCompletions) -> None:
    fake.script(BROKEN)

    with pytest.raises(ProviderError):
        await answered(model, Pauses(), Retry(max_attempts=1))

    assert len(fake.requests) == 1


async def test_stopping_early_closes_the_connection(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(Step(text="some text", hang_after=400))

    async with aclosing(stream_with_retries(model, ask(model), RETRY)) as stream:
        await anext(stream)

    fake.wait_for_disconnect()


@pytest.mark.parametrize(
    ("failures", "wish", "chance", "expected"),
    [
        (1, None, 0.0, 0.0),
        (1, None, 0.5, 1.0),
        (4, None, 1.0, 16.0),
        (10_000, None, 1.0, 60.0),
        (1, 5.0, 0.0, 5.0),
        (1, 0.0, 1.0, 2.0),
    ],
)
def test_the_pause_is_jittered_over_its_whole_length(
    failures: int, wish: float | None, chance: float, expected: float
) -> None:
    assert delay_seconds(RETRY, failures, wish, chance=chance) == expected
