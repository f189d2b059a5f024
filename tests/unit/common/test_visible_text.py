"""The sanitiser: nothing that hides gets through, and clean text is left alone."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from felix_web.common.visible_text import (
    count_marks,
    cut_middle,
    make_visible,
    one_line,
    segments,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()))
NASTY = st.text(st.sampled_from("ab <\t\n\r\x00\x1b\x7f\x9b\u202e\u200b\u2028\ufeff\ud800 \xa0"))


@pytest.mark.parametrize(
    ("hidden", "mark"),
    [
        ("\x00", "<NUL>"),
        ("\x1b", "<ESC>"),
        ("\r", "<CR>"),
        ("\x7f", "<DEL>"),
        ("\x85", "<U+0085>"),
        ("\x9b", "<U+009B>"),
        ("\xad", "<U+00AD>"),
        ("\u061c", "<U+061C>"),
        ("\u200b", "<U+200B>"),
        ("\u200f", "<U+200F>"),
        ("\u2028", "<LS>"),
        ("\u2029", "<PS>"),
        ("\u202e", "<U+202E>"),
        ("\u2066", "<U+2066>"),
        ("\u2800", "<U+2800>"),
        ("\u3164", "<U+3164>"),
        ("\ufe0f", "<U+FE0F>"),
        ("\ufeff", "<U+FEFF>"),
        ("\ud800", "<U+D800>"),
        ("\U000e0041", "<U+E0041>"),
        ("\U000e0100", "<U+E0100>"),
    ],
)
def test_what_hides_is_shown_by_name(hidden, mark):
    assert make_visible(f"a{hidden}b") == f"a{mark}b"


def test_only_the_control_byte_of_a_terminal_sequence_is_replaced():
    assert make_visible("\x1b[31mred") == "<ESC>[31mred"


def test_clean_text_is_returned_as_the_same_object():
    text = "Zürich, 東京 and 🦊:\n\tindented   \n\nλ ≤ ∞"

    assert make_visible(text) is text


def test_a_repeated_character_is_one_mark_with_its_number():
    assert make_visible("a" + "\u200b" * 40 + "b") == "a<U+200B x40>b"
    assert count_marks("\u200b" * 40 + "\u202e") == 2


def test_the_pieces_tell_marks_from_the_same_letters_in_the_text():
    parts = segments("<ESC>\x1b")

    assert [(part.text, part.is_mark) for part in parts] == [("<ESC>", False), ("<ESC>", True)]


def test_blanks_that_push_text_out_of_sight_are_a_mark():
    assert make_visible("ls" + " " * 64 + "; rm") == "ls<64 columns of blanks>; rm"
    assert make_visible("ls" + "\t" * 12 + "; rm") == "ls<96 columns of blanks>; rm"
    assert make_visible("a" + "\n" * 20 + "b") == "a\n<19 blank lines>\nb"


def test_blank_lines_that_hold_blanks_are_a_mark_too():
    assert make_visible("a" + "             \n" * 30 + "  b") == (
        "a             \n<29 blank lines>\n  b"
    )


def test_ordinary_indentation_and_spacing_stay():
    text = "def f():\n" + " " * 40 + "return 1\n" * 3 + "\n" * 10 + "x" + " " * 63 + "y"

    assert make_visible(text) == text
    assert count_marks(text) == 0


@given(ANY_TEXT | NASTY)
def test_nothing_invisible_is_left(text):
    shown = make_visible(text)

    kept = {character for character in shown if character not in "\t\n"}
    assert {c for c in kept if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}} == set()
    assert kept & set("\u200b\u200d\u202e\u2066\ufeff\xad\ufe0f") == set()


@given(ANY_TEXT | NASTY)
def test_showing_twice_changes_nothing_more(text):
    assert make_visible(make_visible(text)) == make_visible(text)


@given(ANY_TEXT | NASTY)
def test_pieces_joined_are_the_visible_text(text):
    assert "".join(part.text for part in segments(text)) == make_visible(text)


@given(ANY_TEXT | NASTY, st.integers(1, 40))
def test_a_line_is_one_line_and_not_too_long(text, limit):
    for line in (one_line(text, limit), cut_middle(text, limit)):
        assert len(line) <= limit
        assert (
            line.isprintable() or set(line) & set("\xa0\u3000\ue000") or len(line.split("\n")) == 1
        )
        assert not set(line) & set("\n\t\r\x1b")


def test_a_line_shows_its_breaks_and_is_cut_between_marks():
    assert one_line("cd /tmp\nrm -rf x\ty", 80) == "cd /tmp<LF>rm -rf x<TAB>y"
    assert one_line("ab\x1bcd", 6) == "ab…"
    assert one_line("abcdef", 6) == "abcdef"


def test_an_id_keeps_both_ends():
    assert cut_middle("run_01jd3k8z0m5x7q2w9c4v6b1n", 12) == "run_01…v6b1n"
    assert cut_middle("run_01", 12) == "run_01"
    assert cut_middle("a" * 9000 + "\x1bend", 20) == "a" * 10 + "…a<ESC>end"


def test_a_line_without_room_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        one_line("a", 0)
