"""Turns as messages."""

import json

import pytest

from agents.core.providers.base import AssistantTurn, Thinking, ToolCall, ToolTurn, UserTurn
from agents.core.providers.messages import NO_OUTPUT, call_ids, render_system, render_turn

HERE = "http://here m 1"
SIGNED = Thinking("hm", "sig-1", HERE, {"type": "reasoning.text", "index": 0, "format": "f"})


def only(turn: AssistantTurn | ToolTurn | UserTurn) -> dict[str, object]:
    (message,) = render_turn(turn, origin=HERE)
    return message


def test_the_system_prompt_is_one_message_and_a_blank_one_none() -> None:
    assert render_system("be good") == [{"role": "system", "content": "be good"}]
    assert render_system(" \n") == []


def test_a_call_is_rendered_with_canonical_arguments() -> None:
    first = only(AssistantTurn("", calls=(ToolCall("c1", "look", {"b": 1, "a": "é"}),)))
    second = only(AssistantTurn("", calls=(ToolCall("c1", "look", {"a": "é", "b": 1}),)))

    assert json.dumps(first) == json.dumps(second)
    assert first["content"] is None
    assert '{\\"a\\":\\"é\\",\\"b\\":1}' in json.dumps(first, ensure_ascii=False)


@pytest.mark.parametrize(
    "turn", [AssistantTurn(""), AssistantTurn(" \n", (SIGNED,)), UserTurn(" ")]
)
def test_an_empty_message_is_never_rendered(turn: AssistantTurn | UserTurn) -> None:
    assert render_turn(turn, origin=HERE) == []


def test_an_empty_result_says_that_it_is_empty() -> None:
    assert only(ToolTurn("c1", "look", ""))["content"] == NO_OUTPUT


def test_signed_reasoning_goes_back_ahead_of_the_calls() -> None:
    message = only(AssistantTurn("", (SIGNED,), (ToolCall("c1", "look", {}),)))

    block = {
        "type": "reasoning.text",
        "index": 0,
        "format": "f",
        "text": "hm",
        "signature": "sig-1",
    }
    assert message["reasoning_details"] == [block]
    assert list(message).index("reasoning_details") < list(message).index("tool_calls")


def test_an_encrypted_block_goes_back_as_its_data() -> None:
    block = Thinking("", "opaque", HERE, {"type": "reasoning.encrypted", "id": "e1"})

    details = only(AssistantTurn("x", (block,)))["reasoning_details"]

    assert details == [{"type": "reasoning.encrypted", "id": "e1", "data": "opaque"}]


def test_the_bytes_do_not_depend_on_the_order_in_which_the_database_keeps_keys() -> None:
    turned = Thinking("hm", "sig-1", HERE, dict(reversed((SIGNED.data or {}).items())))

    first, second = only(AssistantTurn("x", (SIGNED,))), only(AssistantTurn("x", (turned,)))

    assert json.dumps(first) == json.dumps(second)


@pytest.mark.parametrize(
    "block",
    [Thinking("hm", "", HERE), Thinking("hm", "sig-1", "http://there m 1"), Thinking("", "s")],
)
def test_unsigned_and_foreign_reasoning_is_dropped(block: Thinking) -> None:
    assert "reasoning_details" not in only(AssistantTurn("x", (block,)))


def test_text_that_utf8_cannot_hold_is_rendered_clean() -> None:
    assert only(UserTurn("a\ud800b"))["content"] == "a\ufffdb"


def test_the_ids_of_a_conversation_are_those_of_its_calls() -> None:
    calls = (ToolCall("c1", "look", {}), ToolCall("c2", "look", {}))

    messages = [*render_system("s"), *render_turn(AssistantTurn("", calls=calls), origin=HERE)]

    assert call_ids(messages) == {"c1", "c2"}
