"""Chunks as servers send them, put together."""

from typing import Any

import pytest

from agents.core.providers.base import Completed, ProviderError, StreamItem, Usage
from agents.core.providers.collect import AnswerCollector, usage_of
from sessions.core.states import StopReason
from tests.unit.agents.providers.helpers import shown_text, shown_thinking


def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def fragment(
    index: int | None, call_id: str = "", name: str = "", text: str = ""
) -> dict[str, Any]:
    function = {"name": name or None, "arguments": text}
    return chunk({"tool_calls": [{"index": index, "id": call_id or None, "function": function}]})


def collect(
    *chunks: Any, known: tuple[str, ...] = (), taken: tuple[str, ...] = ()
) -> list[StreamItem]:
    collector = AnswerCollector("here", known, taken)
    found = [item for one in chunks for item in collector.feed(one)]
    return [*found, *collector.finish()]


def whole(*chunks: Any, **options: Any) -> Completed:
    last = collect(*chunks, **options)[-1]
    assert isinstance(last, Completed)
    return last


STOP = chunk({}, "stop")


def test_an_id_given_once_and_an_id_repeated_give_the_same_call() -> None:
    once = whole(fragment(0, "a", "look", '{"x"'), fragment(0, text=":1}"), STOP)
    repeated = whole(
        fragment(0, "a", "look", '{"x"'), fragment(0, "a", "look", ":1}"), STOP, known=("look",)
    )

    assert once.turn.calls == repeated.turn.calls
    assert once.turn.calls[0].args == {"x": 1}


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_name_split_anywhere_is_one_name(cut: int) -> None:
    name = "look_look"

    answer = whole(
        fragment(0, "a", name[:cut]), fragment(0, name=name[cut:]), STOP, known=("look", name)
    )

    assert answer.turn.calls[0].name == name


def test_calls_that_all_have_index_zero_are_told_apart_by_their_ids() -> None:
    answer = whole(fragment(0, "a", "look", "{}"), fragment(0, "b", "look", '{"x":2}'), STOP)

    assert [call.args for call in answer.turn.calls] == [{}, {"x": 2}]


def test_fragments_without_an_index_belong_to_the_last_call() -> None:
    answer = whole(
        fragment(None, "a", "look", "{"),
        fragment(None, text="}"),
        fragment(None, "b", "peek"),
        STOP,
    )

    assert [(call.call_id, call.name) for call in answer.turn.calls] == [
        ("a", "look"),
        ("b", "peek"),
    ]


@pytest.mark.parametrize("wrong", ["", "old", "x" * 200, "a\x00"])
def test_an_id_that_cannot_serve_is_minted_anew(wrong: str) -> None:
    answer = whole(fragment(0, wrong, "look"), STOP, taken=("old",))

    assert answer.turn.calls[0].call_id.startswith("call_")


def test_an_id_twice_in_one_message_is_minted_anew() -> None:
    answer = whole(fragment(0, "a", "look"), fragment(1, "a", "look"), STOP)

    first, second = answer.turn.calls
    assert first.call_id == "a"
    assert second.call_id.startswith("call_")


def test_arguments_that_are_not_an_object_are_an_error_of_the_call_alone() -> None:
    answer = whole(fragment(0, "a", "look", "[]"), fragment(1, "b", "look", "{}"), STOP)

    assert answer.turn.calls[0].args_error
    assert not answer.turn.calls[1].args_error


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("stop", StopReason.END_TURN),
        ("tool_calls", StopReason.END_TURN),
        ("length", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.REFUSAL),
        ("eos", StopReason.UNKNOWN),
    ],
)
def test_the_reason_of_a_text_is_mapped(reason: str, expected: StopReason) -> None:
    assert whole(chunk({"content": "x"}), chunk({}, reason)).stop_reason is expected


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "function_call", "eos"])
def test_an_answer_with_calls_asks_for_tools_whatever_it_says(reason: str) -> None:
    answer = whole(fragment(0, "a", "look", "{}"), chunk({}, reason))

    assert answer.stop_reason is StopReason.TOOL_USE


def test_a_call_cut_off_by_the_length_is_not_taken_for_one_without_arguments() -> None:
    answer = whole(fragment(0, "a", "look"), chunk({}, "length"))

    assert answer.stop_reason is StopReason.MAX_TOKENS
    assert answer.turn.calls[0].args_error


def test_the_old_function_call_is_understood() -> None:
    delta = {"function_call": {"name": "look", "arguments": "{}"}}

    answer = whole(chunk(delta), chunk({}, "function_call"))

    assert (answer.turn.calls[0].name, answer.stop_reason) == ("look", StopReason.TOOL_USE)


@pytest.mark.parametrize(
    "chunks",
    [
        (),
        (chunk({"content": "half"}),),
        (chunk({"content": "x"}, "error"),),
        (STOP,),
        (chunk({"reasoning": "hm"}), STOP),
        ("junk", {"choices": None}, {"choices": ["junk"]}, {"choices": [{"delta": 3}]}),
    ],
)
def test_an_answer_that_broke_off_or_is_empty_may_be_asked_again(chunks: tuple[Any, ...]) -> None:
    with pytest.raises(ProviderError) as caught:
        collect(*chunks)

    assert caught.value.retryable


def test_an_empty_answer_that_ran_into_a_limit_is_an_answer() -> None:
    assert whole(chunk({}, "length")).stop_reason is StopReason.MAX_TOKENS


def test_a_refusal_is_shown_as_text() -> None:
    answer = whole(chunk({"refusal": "No."}), STOP)

    assert (answer.turn.content, answer.stop_reason) == ("No.", StopReason.REFUSAL)


def test_content_in_parts_is_text() -> None:
    assert whole(chunk({"content": [{"type": "text", "text": "a"}]}), STOP).turn.content == "a"


def test_an_emoji_in_two_halves_over_two_deltas_is_shown_once_and_whole() -> None:
    found = collect(chunk({"content": "a\ud83d"}), chunk({"content": "\ude00\x00"}), STOP)

    assert shown_text(found) == "a😀\ufffd"


def test_half_an_emoji_at_the_end_is_replaced_and_shown() -> None:
    found = collect(chunk({"content": "a\ud83d"}), STOP)

    assert shown_text(found) == "a\ufffd"


def detail(index: int | None = 0, **fields: Any) -> dict[str, Any]:
    return chunk({"reasoning_details": [{"type": "reasoning.text", "index": index, **fields}]})


TEXT = chunk({"content": "x"})


def test_a_block_of_reasoning_is_joined_with_its_signature() -> None:
    found = collect(
        detail(text="a", format="f"), detail(text="b"), detail(signature="s"), TEXT, STOP
    )

    (block,) = found[-1].turn.thinking  # type: ignore[union-attr]
    assert (block.text, block.signature, block.origin) == ("ab", "s", "here")
    assert block.data == {"type": "reasoning.text", "index": 0, "format": "f"}
    assert shown_thinking(found) == "ab"


@pytest.mark.parametrize("pieces", [("si", "gn"), ("sign", "sign"), ("sign", "")])
def test_a_signature_may_come_in_pieces_or_twice(pieces: tuple[str, str]) -> None:
    answer = whole(detail(text="a"), *(detail(signature=piece) for piece in pieces), TEXT, STOP)

    assert answer.turn.thinking[0].signature == "sign"


def test_blocks_keep_their_order() -> None:
    answer = whole(
        detail(0, text="a", signature="1"), detail(1, text="b", signature="2"), TEXT, STOP
    )

    assert [block.signature for block in answer.turn.thinking] == ["1", "2"]


def test_without_an_index_a_signature_ends_a_block() -> None:
    answer = whole(
        detail(None, text="a"), detail(None, signature="1"), detail(None, text="b"), TEXT, STOP
    )

    assert [(block.text, block.signature) for block in answer.turn.thinking] == [
        ("a", "1"),
        ("b", ""),
    ]


def test_an_encrypted_block_is_kept_and_not_shown() -> None:
    entry = {"type": "reasoning.encrypted", "index": 0, "data": "opaque", "id": "e"}

    found = collect(chunk({"reasoning_details": [entry]}), TEXT, STOP)

    assert found[-1].turn.thinking[0].signature == "opaque"  # type: ignore[union-attr]
    assert shown_thinking(found) == ""


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_plain_reasoning_is_shown_and_has_no_signature(key: str) -> None:
    found = collect(chunk({key: "hm"}), TEXT, STOP)

    assert shown_thinking(found) == "hm"
    assert found[-1].turn.thinking[0].signature == ""  # type: ignore[union-attr]


def test_reasoning_that_comes_twice_in_one_delta_is_shown_once() -> None:
    entry = {"type": "reasoning.text", "index": 0, "text": "hm"}

    found = collect(chunk({"reasoning": "hm", "reasoning_details": [entry]}), TEXT, STOP)

    assert shown_thinking(found) == "hm"


def test_a_block_that_cannot_be_kept_unchanged_loses_its_signature() -> None:
    answer = whole(detail(text="a\x00", signature="s"), TEXT, STOP)

    assert (answer.turn.thinking[0].text, answer.turn.thinking[0].signature) == ("a\ufffd", "")


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 2}, Usage(10, 2)),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 0,
                "prompt_tokens_details": {"cached_tokens": 7, "cache_write_tokens": 2},
            },
            Usage(1, 0, 7, 2),
        ),
        (
            {
                "prompt_tokens": 3,
                "completion_tokens": 1,
                "prompt_tokens_details": {"cached_tokens": 9},
            },
            Usage(0, 1, 3),
        ),
        ({"prompt_tokens": 10}, Usage(10, 0, certain=False)),
        ({"prompt_tokens": -1, "completion_tokens": "2"}, Usage(0, 0, certain=False)),
        (None, Usage(certain=False)),
    ],
)
def test_usage_counts_every_token_once(report: Any, expected: Usage) -> None:
    assert usage_of(report) == expected
