from __future__ import annotations

import itertools
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.core.tools.window import MAX_STORED_CHARS, storable, window

NOTICE = re.compile(
    r"\n\[\.\.\. ([\d,]+) characters in all, ([\d,]+) left out here; .*\n", re.DOTALL
)
# Each is one character to a reader, whatever the number of its code points.
characters = st.sampled_from(
    [
        "a",
        "e\u0301",
        "\r\n",
        "\u2764\ufe0f",
        "\U0001f44d\U0001f3fd",
        "\U00020000",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    ]
)


def test_a_text_within_the_limit_is_shown_whole() -> None:
    assert window("x" * 2000, output_id="out_1") == "x" * 2000


def test_a_longer_text_keeps_its_first_four_fifths_and_its_last() -> None:
    text = "a" * 1600 + "b" * 1000 + "c" * 400

    assert window(text, output_id="out_1") == (
        "a" * 1600
        + "\n[... 3,000 characters in all, 1,000 left out here;"
        + ' read_output id="out_1" offset=1600 shows them ...]\n'
        + "c" * 400
    )


@given(st.integers(1, 3000), st.integers(1, 500))
def test_a_window_is_never_longer_than_its_text_and_counts_right(size: int, limit: int) -> None:
    text = "x" * size

    shown = window(text, limit=limit, output_id="out_1")

    match = NOTICE.search(shown)
    assert len(shown) <= size
    assert match is None or int(match[2].replace(",", "")) == size - limit
    assert match is None or shown.count("x") - match[0].count("x") == limit


@given(st.lists(characters, min_size=1, max_size=12), st.integers(20, 60))
def test_a_cut_never_falls_inside_a_character(some: list[str], limit: int) -> None:
    written = some * 40
    text = "".join(written)
    places = {0, *itertools.accumulate(len(character) for character in written)}

    shown = window(text, limit=limit, output_id="o")

    match = NOTICE.search(shown)
    head, tail = (shown[: match.start()], shown[match.end() :]) if match else (text, "")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert {len(head), len(text) - len(tail)} <= places


@given(st.text(st.characters(), max_size=200))
def test_what_is_shown_can_be_written_as_utf_8_and_stored(text: str) -> None:
    shown = window(text + "\ud800\0", limit=20, output_id="o")

    assert json.loads(json.dumps(shown).encode()) == shown
    assert shown.encode()
    assert "\0" not in shown


def test_halves_of_a_pair_become_one_character_and_lone_ones_a_sign() -> None:
    assert storable("\ud83d\ude00 \ud83d \0") == "\U0001f600 \ufffd \ufffd"


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_that_is_not_positive_is_an_error(limit: int) -> None:
    with pytest.raises(ValueError, match="positive"):
        window("x", limit=limit, output_id="o")


def test_an_endless_output_is_stored_up_to_the_cap_and_says_so() -> None:
    stored = storable("x" * (MAX_STORED_CHARS + 5))

    assert stored.endswith("\n[... cut here: 8,000,005 characters, 8,000,000 are kept]")
    assert stored.count("x") == MAX_STORED_CHARS
    assert storable("x" * 100) == "x" * 100
