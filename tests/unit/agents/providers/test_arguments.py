"""Arguments as models write them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.core.providers.arguments import parse_arguments
from agents.core.providers.clean import TextJoiner, clean_text

TEXT = st.text(max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(TEXT, JSON, max_size=3))
def test_every_json_object_is_taken_but_for_nul(value: dict[str, Any]) -> None:
    parsed = parse_arguments(json.dumps(value))

    assert parsed.error == ""
    assert json.dumps(parsed.value) == json.dumps(value).replace("\\u0000", "\\ufffd")


def test_a_raw_newline_inside_a_string_is_taken_as_meant() -> None:
    assert parse_arguments('{"text": "a\nb\tc"}').value == {"text": "a\nb\tc"}


def test_blank_arguments_are_an_empty_object() -> None:
    assert parse_arguments(" ") == ({}, "")


def test_blank_arguments_of_an_answer_that_was_cut_are_an_error() -> None:
    assert parse_arguments("", is_cut=True).error


@pytest.mark.parametrize(
    "text",
    ["[1]", '"a"', "1", "null", '{"a": 1', '{"a": NaN}', '{"a": 1e999}', "[" * 100_000, "{'a': 1}"],
)
def test_what_is_not_a_json_object_is_an_error_with_empty_arguments(text: str) -> None:
    parsed = parse_arguments(text)

    assert parsed.value == {}
    assert parsed.error


def test_an_emoji_escaped_as_two_halves_is_one_character() -> None:
    assert parse_arguments('{"a": "\\ud83d\\ude00"}').value == {"a": "😀"}


@pytest.mark.parametrize("code", [0, 0xD83D, 0xDE00])
def test_what_the_database_refuses_becomes_a_replacement_character(code: int) -> None:
    assert clean_text(f"a{chr(code)}b") == "a\ufffdb"


@given(st.text(st.characters(codec=None, categories=None), max_size=12), st.integers(0, 12))
def test_a_text_in_two_pieces_is_the_same_as_in_one(text: str, cut: int) -> None:
    joiner = TextJoiner()

    shown = joiner.feed(text[:cut]) + joiner.feed(text[cut:]) + joiner.finish()

    assert shown == joiner.text == clean_text(text)
    assert shown.encode().decode() == shown
