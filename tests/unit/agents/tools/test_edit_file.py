from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.core.tools.edit_file import EditFileArgs, edited
from tests.unit.agents.tools.bench import Bench


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a b c", "b", "B", b"a B c"),
        (b"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\n", "b", "1\n2", b"a\r\n1\r\n2\r\n"),
        (b"a\nb\n", "a\r\nb", "c\r\nd", b"c\nd\n"),
        (b"a\nb\r\nc\r\n", "b\nc", "x\ny", b"a\nx\r\ny\r\n"),
        (codecs.BOM_UTF8 + b"a", "a", "b", codecs.BOM_UTF8 + b"b"),
        (b"\xff\xfe\xe9\x00", "é", "ø", b"\xff\xfe\xf8\x00"),
        (b"caf\xe9 = 1\r", "1", "2", b"caf\xe9 = 2\r"),
        (b"tail \t\n\n", "tail", "", b" \t\n\n"),
    ],
    ids=["plain", "crlf", "crlf new", "lf", "mixed", "bom", "utf-16", "latin-1", "white space"],
)
def test_only_the_replaced_text_differs(
    bench: Bench, before: bytes, old: str, new: str, after: bytes
) -> None:
    file = bench.put("f", before)

    text = bench.text("edit_file", path="f", old_string=old, new_string=new)

    assert text.startswith("Edited f: ")
    assert file.read_bytes() == after


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_every_other_byte_stays_whatever_it_is(head: bytes, tail: bytes) -> None:
    before = b"x" + head.replace(b"\0", b"") + b"<MARK>" + tail.replace(b"\0", b"")
    args = EditFileArgs(path="f", old_string="<MARK>", new_string="<>")

    assert edited(args, before) == before.replace(b"<MARK>", b"<>")


@pytest.mark.parametrize(
    ("before", "old", "new", "code"),
    [
        (b"abc", "x", "y", "not_found"),
        (b"abc", "b", "b", "invalid_arguments"),
        (b"a\r\n", "a\n", "a\r\n", "invalid_arguments"),
        (b"b b", "b", "c", "invalid_arguments"),
        (b"aaa", "aa", "b", "invalid_arguments"),
        (b"a\0b", "a", "b", "invalid_arguments"),
        (b"x" * 4_000_001, "y", "z", "limit"),
    ],
    ids=["absent", "same", "same but ends", "twice", "overlapping", "binary", "too large"],
)
def test_an_edit_that_is_not_certain_changes_nothing(
    bench: Bench, before: bytes, old: str, new: str, code: str
) -> None:
    file = bench.put("f", before)

    text = bench.text("edit_file", path="f", old_string=old, new_string=new)

    assert text.startswith(f"[error/{code}]")
    assert file.read_bytes() == before


def test_every_occurrence_is_replaced_on_demand(bench: Bench) -> None:
    file = bench.put("f", "a-a-a")

    bench.text("edit_file", path="f", old_string="a", new_string="bb", replace_all=True)

    assert file.read_text() == "bb-bb-bb"


def test_a_result_that_would_be_too_large_is_refused_before_it_is_built(bench: Bench) -> None:
    file = bench.put("f", "a" * 1_000_000)
    args = {"path": "f", "old_string": "a", "new_string": "b" * 500_000, "replace_all": True}

    # Built, it would have 500 GB.
    assert bench.text("edit_file", **args).startswith("[error/limit]")
    assert file.stat().st_size == 1_000_000


def test_a_missing_file_names_the_tool_that_makes_one(bench: Bench) -> None:
    text = bench.text("edit_file", path="none", old_string="a", new_string="b")

    assert text.startswith("[error/not_found]")
    assert "write_file" in text
