from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.core.tools.base import DiffLine
from agents.core.tools.diff import EXACT_STEPS, diff_lines, matching

texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "e\n"]), max_size=25)


def rebuilt(old: Sequence[str], rows: Sequence[DiffLine]) -> list[str]:
    """Apply the rows to the old lines, the way a reader of the line numbers would."""
    new: list[str] = []
    at = 0
    for row in rows:
        if row.new is not None:
            while len(new) < row.new - 1:
                new.append(old[at])
                at += 1
            new.append(row.text + "\n")
        if row.old is not None:
            assert old[row.old - 1] == row.text + "\n"
            at = row.old
    return new + list(old[at:])


@given(texts, texts)
def test_the_rows_turn_the_old_text_into_the_new_one(old: list[str], new: list[str]) -> None:
    diff = diff_lines(old, new)

    assert rebuilt(old, diff.rows) == new
    assert diff.added == sum(row.sign == "+" for row in diff.rows)
    assert diff.removed == sum(row.sign == "-" for row in diff.rows)


@given(texts, texts)
def test_a_context_line_is_never_more_than_three_from_a_change(
    old: list[str], new: list[str]
) -> None:
    rows = diff_lines(old, new).rows
    changes = [index for index, row in enumerate(rows) if row.sign != " "]

    context = [index for index, row in enumerate(rows) if row.sign == " "]
    assert all(min(abs(index - change) for change in changes) <= 3 for index in context)


@given(texts, texts)
def test_between_two_runs_of_equal_lines_is_a_change(old: list[str], new: list[str]) -> None:
    found = matching(old, new)

    ends = [(match.old + match.size, match.new + match.size) for match in found]
    assert not set(ends) & {(match.old, match.new) for match in found}


@given(texts)
def test_equal_texts_have_no_rows(lines: list[str]) -> None:
    assert diff_lines(lines, lines) == diff_lines([], [])


def test_a_line_that_gains_its_line_end_is_a_change() -> None:
    diff = diff_lines(["a"], ["a\n"])

    assert [row.sign for row in diff.rows] == ["-", "+"]


def hostile() -> dict[str, tuple[list[str], list[str]]]:
    size = 120_000
    dice = random.Random(7)
    half = [f"{number}\n" for number in range(size)]
    return {
        "one line repeated": (["a\n"] * size, ["b\n", *["a\n"] * (size // 2), "c\n"]),
        "two lines alternating": (["a\n", "b\n"] * size, ["b\n", "b\n", "a\n"] * (size // 2)),
        "every second line changed": (half, [f"{n if n % 2 else -n}\n" for n in range(size)]),
        "shuffled": (half, dice.sample(half, size)),
        "random of few": (dice.choices("abcde", k=size), dice.choices("abcde", k=size)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", hostile())
def test_no_text_takes_long(name: str) -> None:
    old, new = hostile()[name]
    started = time.monotonic()

    found = matching(old, new)

    assert time.monotonic() - started < 8
    assert all(old[m.old : m.old + m.size] == new[m.new : m.new + m.size] for m in found)
    assert EXACT_STEPS < 10_000_000


def test_a_change_in_each_of_many_places_is_found_exactly() -> None:
    old = [f"{number}\n" for number in range(40_000)]
    new = [line if number % 100 else "changed\n" for number, line in enumerate(old)]

    diff = diff_lines(old, new)

    assert (diff.added, diff.removed) == (400, 400)
    assert len(diff.rows) == 400 * (1 + 1 + 3 + 3) - 3
