"""The adapter against a real server."""

import asyncio
import json
import socket
import time
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any

import pytest

from agents.core.providers.base import AssistantTurn, Completed, ModelRequest, TextDelta
from agents.core.providers.chat_completions import ChatCompletions
from agents.core.providers.factory import open_provider
from sessions.core.states import StopReason
from tests.fakes.provider import FakeProvider, Step, ThinkingBlock, call
from tests.unit.agents.providers.helpers import (
    LOOK,
    after,
    ask,
    completed,
    failure,
    items,
    profile,
    shown_text,
    shown_thinking,
)


async def test_text_arrives_in_deltas_and_then_whole(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(Step(text="a short answer", usage={"prompt_tokens": 9, "completion_tokens": 3}))

    found = await items(model, ask(model))

    assert shown_text(found) == "a short answer"
    assert isinstance(found[0], TextDelta)
    last = found[-1]
    assert isinstance(last, Completed)
    assert (last.turn.content, last.stop_reason) == ("a short answer", StopReason.END_TURN)
    assert (last.usage.input, last.usage.output, last.usage.certain) == (9, 3, True)


async def test_many_calls_of_one_message_keep_their_order(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(Step(calls=tuple(call("look", f'{{"n": {n}}}') for n in range(20))))

    answer = await completed(model, ask(model, tools=(LOOK,)))

    assert [c.args["n"] for c in answer.turn.calls] == list(range(20))
    assert answer.stop_reason is StopReason.TOOL_USE


@pytest.mark.parametrize(
    "way",
    [
        {"piece": 1},
        {"piece": 0},
        {"piece": 2, "repeat_ids": True},
        {"piece": 2, "split_names": True},
        {"piece": 3, "zero_index": True, "repeat_ids": True},
        {"finish": "stop"},
    ],
)
async def test_every_way_to_stream_calls_gives_the_same_turn(
    fake: FakeProvider, model: ChatCompletions, way: dict[str, Any]
) -> None:
    calls = (call("look", '{"a": "é\\n\\u00e9"}', "c1"), call("look", '{"b": [1.5, null]}', "c2"))
    fake.script(Step(calls=calls, **way))

    answer = await completed(model, ask(model, tools=(LOOK,)))

    assert [c.args for c in answer.turn.calls] == [{"a": "é\né"}, {"b": [1.5, None]}]
    assert [c.name for c in answer.turn.calls] == ["look", "look"]
    assert answer.stop_reason is StopReason.TOOL_USE


SHORT = Step(text="é😀", calls=(call("look", '{"k":"ü"}', "c1"),), piece=0)


async def test_a_split_at_any_byte_of_the_stream_changes_nothing(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(SHORT)
    expected = await completed(model, ask(model))
    size = 1 + max(_offsets())
    fake.script(*(_changed(SHORT, split_at=offset) for offset in range(1, size)))

    answers = [await completed(model, ask(model)) for _ in range(1, size)]

    assert all(answer == expected for answer in answers)


async def test_a_death_at_any_byte_is_retryable_or_comes_after_the_answer(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(SHORT)
    expected = await completed(model, ask(model))
    offsets = list(_offsets())[::7]
    fake.script(*(_changed(SHORT, die_at=offset) for offset in offsets))

    outcomes = [await _outcome(model) for _ in offsets]

    assert outcomes[0] == "retryable"
    answers = [outcome for outcome in outcomes if outcome != "retryable"]
    assert answers
    assert all(answer == expected.turn for answer in answers)


def _changed(step: Step, **changes: Any) -> Step:
    return Step(**{**vars(step), **changes})


def _offsets() -> range:
    from tests.fakes.steps import Answer
    from tests.fakes.wire import stream_bytes

    usage = {"prompt_tokens": 1, "completion_tokens": 1}
    return range(1, len(stream_bytes(Answer(SHORT, ["c1"]), model="fake-1", usage=usage)))


async def _outcome(model: ChatCompletions) -> AssistantTurn | str:
    try:
        return (await completed(model, ask(model))).turn
    except Exception as error:
        return "retryable" if getattr(error, "retryable", False) else repr(error)


async def test_signed_reasoning_returns_unchanged_and_in_place(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    blocks = (ThinkingBlock("first é"), ThinkingBlock(kind="encrypted"), ThinkingBlock("third"))
    fake.script(Step(thinking=blocks, calls=(call("look"), call("look"))), Step(text="done"))
    request = ask(model, tools=(LOOK,))

    answer = await completed(model, request)
    await completed(model, after(model, request, answer.turn))

    assert fake.violations == []
    assert len(fake.requests[1].body["messages"][1]["reasoning_details"]) == 3


async def test_reasoning_without_its_signature_is_shown_and_never_sent(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    blocks = (ThinkingBlock("unsigned", is_signed=False),)
    fake.script(Step(thinking=blocks, reasoning="plain", calls=(call("look"),)), Step(text="done"))
    request = ask(model, tools=(LOOK,))

    found = await items(model, request)
    await completed(model, after(model, request, found[-1].turn))  # type: ignore[union-attr]

    assert shown_thinking(found) == "unsignedplain"
    assert "reasoning_details" not in fake.requests[1].body["messages"][1]


async def test_another_account_gets_no_reasoning_of_the_first(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    other = ChatCompletions(profile(fake.base_url), "sk-another-key")
    fake.script(Step(thinking=(ThinkingBlock("hm"),), calls=(call("look"),)), Step(text="done"))
    request = ask(model, tools=(LOOK,))
    answer = await completed(model, request)

    await completed(other, after(other, request, answer.turn))
    await other.aclose()

    assert fake.violations == []
    assert "reasoning_details" not in fake.requests[1].body["messages"][1]


async def test_the_origin_names_the_account_without_its_key(model: ChatCompletions) -> None:
    assert "sk-test" not in model.origin
    assert model.origin != ChatCompletions(profile("http://x.example"), "sk-test-secret-1").origin


async def test_an_id_that_the_conversation_already_holds_is_minted_anew(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    again = Step(calls=(call("look", "{}", "same"),))
    fake.script(again, again, Step(text="done"))
    first = ask(model, tools=(LOOK,))

    second = after(model, first, (await completed(model, first)).turn)
    third = after(model, second, (await completed(model, second)).turn)
    await completed(model, third)

    assert fake.violations == []


async def test_the_prepared_messages_reach_the_wire_byte_for_byte(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    messages = [*model.render_system("é"), {"role": "user", "content": "a 😀"}]

    await completed(model, ModelRequest(messages, (LOOK,)))

    sent = json.dumps(messages, ensure_ascii=False, separators=(",", ":")).encode()
    assert sent in fake.requests[0].raw


async def test_a_request_says_no_more_than_it_was_told(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    await completed(model, ask(model, cache_key="thread-1"))

    assert set(fake.requests[0].body) == {"model", "stream", "stream_options", "messages"}


async def test_tools_temperature_and_the_token_limit_are_sent(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    await completed(model, ask(model, tools=(LOOK,), temperature=0.0, max_tokens=7))

    body = fake.requests[0].body
    assert (body["temperature"], body["max_tokens"]) == (0.0, 7)
    assert body["tools"][0]["function"]["name"] == "look"


async def test_the_cache_key_goes_to_a_provider_that_understands_it(fake: FakeProvider) -> None:
    knowing = ChatCompletions(profile(fake.base_url, sends_cache_key=True), "sk-1")

    await completed(knowing, ask(knowing, cache_key="thread-1"))
    await completed(knowing, ask(knowing))
    await knowing.aclose()

    assert fake.requests[0].body["prompt_cache_key"] == "thread-1"
    assert "prompt_cache_key" not in fake.requests[1].body


async def test_nothing_of_the_environment_is_sent(
    fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", "of-the-environment")
    keyless = open_provider(profile(fake.base_url), {})
    assert isinstance(keyless, ChatCompletions)

    await completed(keyless, ask(keyless))
    await keyless.aclose()

    assert "of-the-environment" not in str(fake.requests[0].headers)
    assert "authorization" not in fake.requests[0].headers


async def test_requests_share_one_connection(fake: FakeProvider, model: ChatCompletions) -> None:
    await completed(model, ask(model))
    await completed(model, ask(model))

    first, second = fake.requests
    assert first.client_port == second.client_port


@pytest.mark.parametrize(
    ("finish", "expected"),
    [("length", StopReason.MAX_TOKENS), ("content_filter", StopReason.REFUSAL)],
)
async def test_an_answer_that_was_stopped_says_why(
    fake: FakeProvider, model: ChatCompletions, finish: str, expected: StopReason
) -> None:
    fake.script(Step(text="half an", finish=finish))

    assert (await completed(model, ask(model))).stop_reason is expected


async def test_missing_usage_is_uncertain_not_zero(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(Step(text="x", with_usage=False))

    assert not (await completed(model, ask(model))).usage.certain


@pytest.mark.parametrize(
    "step",
    [
        Step(empty=True),
        Step(text="x", finish="none"),
        Step(text="some text", end_at=200),
        Step(text="some text", die_at=200),
        Step(text="x", in_stream_error={"code": 502, "message": "raw words"}),
        Step(status=500),
        Step(status=529, retry_after="2"),
        Step(status=429),
    ],
)
async def test_a_passing_failure_is_retryable(
    fake: FakeProvider, model: ChatCompletions, step: Step
) -> None:
    fake.script(step)

    error = await failure(model, ask(model))

    assert error.retryable
    assert "raw words" not in error.message


async def test_one_request_is_made_however_it_fails(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(Step(status=500, text="raw words", retry_after="3"))

    error = await failure(model, ask(model))

    assert (error.status, error.retry_after_seconds) == (500, 3.0)
    assert "raw words" in error.detail
    assert "raw words" not in error.message
    assert len(fake.requests) == 1


async def test_a_spent_quota_is_not_retryable(fake: FakeProvider, model: ChatCompletions) -> None:
    fake.script(Step(status=429, error_code="insufficient_quota"))

    assert not (await failure(model, ask(model))).retryable


async def test_a_refused_request_is_not_retryable(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    error = await failure(model, ModelRequest([{"role": "assistant", "content": "x"}]))

    assert not error.retryable
    assert error.status == 400


async def test_a_server_that_is_not_there_is_retryable() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        away = ChatCompletions(profile(f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"), "sk-1")

        error = await failure(away, ask(away))
        await away.aclose()

    assert error.retryable
    assert error.status is None
    assert "127.0.0.1" not in error.message


async def test_silence_runs_into_the_read_timeout(fake: FakeProvider) -> None:
    hasty = ChatCompletions(profile(fake.base_url, read_timeout_seconds=0.1), "sk-1")
    fake.script(Step(hang=True))

    error = await failure(hasty, ask(hasty))
    await hasty.aclose()

    assert error.retryable
    assert "in time" in error.message


async def test_a_dripping_answer_runs_into_the_deadline(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    await model._connected()
    fake.script(Step(text="x" * 400, drip_ms=5))
    began = time.monotonic()

    error = await failure(model, ask(model, deadline_seconds=0.3))

    assert time.monotonic() - began < 1.5
    assert error.retryable
    assert "0.3 seconds" in error.message
    fake.wait_for_disconnect()


async def test_the_models_own_deadline_holds_where_the_run_has_more_time_left(
    fake: FakeProvider,
) -> None:
    hasty = ChatCompletions(replace(profile(fake.base_url), deadline_seconds=0.3), "sk-1")
    await hasty._connected()
    fake.script(Step(text="x" * 400, drip_ms=5))

    error = await failure(hasty, ask(hasty, deadline_seconds=600.0))
    await hasty.aclose()

    assert "0.3 seconds" in error.message


async def test_a_deadline_of_zero_is_no_time_at_all(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    assert (await failure(model, ask(model, deadline_seconds=0.0))).retryable


async def test_an_answer_that_is_whole_is_kept_where_the_stream_never_ends(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    whole = Step(text="x", piece=0)
    fake.script(Step(text="x", piece=0, hang_after=_size(whole) - len(b"data: [DONE]\n\n")))

    answer = await completed(model, ask(model))

    assert answer.turn.content == "x"
    assert answer.usage.certain


def _size(step: Step) -> int:
    from tests.fakes.steps import Answer
    from tests.fakes.wire import stream_bytes, usage_of

    messages = json.dumps([{"role": "user", "content": "hello"}])
    usage = usage_of(step, len(messages))
    return len(stream_bytes(Answer(step), model="fake-1", usage=usage))


@pytest.mark.parametrize("step", [Step(hang=True), Step(text="some text", hang_after=400)])
async def test_cancelling_closes_the_connection_within_a_second(
    fake: FakeProvider, model: ChatCompletions, step: Step
) -> None:
    fake.script(step)
    asking = asyncio.create_task(items(model, ask(model)))
    await asyncio.to_thread(fake.wait_for_request)
    asking.cancel()
    cancelled_at = time.time()
    with suppress(asyncio.CancelledError):
        await asking

    record = await asyncio.to_thread(fake.wait_for_disconnect)

    assert record.disconnected_at is not None
    assert record.disconnected_at - cancelled_at < 1.0


async def test_a_reader_that_stops_early_closes_the_connection(
    fake: FakeProvider, model: ChatCompletions
) -> None:
    fake.script(Step(text="some text", hang_after=400))

    async with aclosing(model.stream(ask(model))) as stream:
        await anext(stream)

    await asyncio.to_thread(fake.wait_for_disconnect)


async def test_many_answers_at_once_do_not_mix(fake: FakeProvider, model: ChatCompletions) -> None:
    texts = [f"number {n}" for n in range(20)]

    answers = await asyncio.gather(*(completed(model, ask(model, f"say {text}")) for text in texts))

    assert [answer.turn.content for answer in answers] == texts
