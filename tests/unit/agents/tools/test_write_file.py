from __future__ import annotations

import codecs
import stat

import pytest

from sessions.core.states import CallStatus
from tests.unit.agents.tools.bench import Bench

BOM = codecs.BOM_UTF8


def test_a_new_file_and_its_directories_are_made(bench: Bench) -> None:
    text = bench.text("write_file", path="a/b/new.txt", content="one\ntwo\n")

    file = bench.root / "a/b/new.txt"
    assert file.read_bytes() == b"one\ntwo\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert text == "Created a/b/new.txt: 8 bytes, 2 lines (+2 -0)."


def test_an_empty_content_makes_an_empty_file(bench: Bench) -> None:
    assert bench.call("write_file", path="e", content="").status is CallStatus.DONE

    assert (bench.root / "e").read_bytes() == b""


def test_a_replaced_file_says_what_changed_and_keeps_its_mode(bench: Bench) -> None:
    bench.put("run.sh", "a\nb\nc\n").chmod(0o755)

    text = bench.text("write_file", path="run.sh", content="a\nB\nc\nd\n")

    assert text == "Wrote run.sh: 8 bytes, 4 lines (+2 -1)."
    assert stat.S_IMODE((bench.root / "run.sh").stat().st_mode) == 0o755


def test_set_id_bits_do_not_pass_to_a_new_content(bench: Bench) -> None:
    bench.put("tool", "old").chmod(0o4755)

    bench.call("write_file", path="tool", content="new")

    assert stat.S_IMODE((bench.root / "tool").stat().st_mode) == 0o755


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (BOM + b"a\r\nb\r\n", "x\ny\n", BOM + b"x\r\ny\r\n"),
        (BOM + b"a\n", "\ufeffx\n", BOM + b"x\n"),
        (b"a\r\n", "x\r\ny\n", b"x\r\ny\r\n"),
        (b"a\n", "x\r\n", b"x\n"),
        (b"a\nb\r\n", "x\ny\r\n", b"x\ny\r\n"),
        (codecs.BOM_UTF16_LE + "a\n".encode("utf-16-le"), "é", b"\xff\xfe\xe9\x00"),
        (b"\x00\x01", "x\n", b"x\n"),
    ],
    ids=["bom+crlf", "bom sent", "crlf", "lf", "mixed", "utf-16", "binary"],
)
def test_the_form_of_an_existing_file_is_kept(
    bench: Bench, before: bytes, content: str, after: bytes
) -> None:
    file = bench.put("f", before)

    bench.call("write_file", path="f", content=content)

    assert file.read_bytes() == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, b"x\n"),
        (b"a\r\n", b"a\r\nx\r\n"),
        (BOM + b"a\n", BOM + b"a\nx\n"),
        (b"\xff\xfea\x00", b"\xff\xfea\x00x\x00\n\x00"),
        (b"bad \xff\n", b"bad \xff\nx\n"),
    ],
    ids=["new", "crlf", "bom", "utf-16", "not utf-8"],
)
def test_append_adds_in_the_form_of_the_file(
    bench: Bench, before: bytes | None, after: bytes
) -> None:
    if before is not None:
        bench.put("f", before)

    bench.call("write_file", path="f", content="x\n", append=True)

    assert (bench.root / "f").read_bytes() == after


def test_text_is_not_added_to_a_binary_file(bench: Bench) -> None:
    file = bench.put("f", b"\x00")

    text = bench.text("write_file", path="f", content="x", append=True)

    assert text.startswith("[error/invalid_arguments]")
    assert file.read_bytes() == b"\x00"


def test_a_file_does_not_grow_beyond_what_a_reviewer_can_be_shown(bench: Bench) -> None:
    file = bench.put("f", b"x" * 3_999_999)

    text = bench.text("write_file", path="f", content="xx", append=True)

    assert text.startswith("[error/limit]")
    assert file.stat().st_size == 3_999_999


def test_no_temporary_file_stays_after_a_write(bench: Bench) -> None:
    bench.call("write_file", path="a", content="1")
    bench.call("write_file", path="a", content="2")

    assert [path.name for path in bench.root.iterdir()] == ["a"]


def test_a_parent_that_is_a_file_is_refused(bench: Bench) -> None:
    bench.put("a", "file")

    text = bench.text("write_file", path="a/b", content="x")

    assert text.startswith("[error/invalid_arguments]")
    assert bench.snapshot().keys() == {str(bench.root / "a")}


def test_a_call_that_is_out_of_time_writes_nothing(bench: Bench) -> None:
    late = bench.context(seconds=-1)

    assert bench.call("write_file", late, path="a", content="x").text.startswith("[error/timeout]")
    assert bench.snapshot() == {}


def test_a_stopped_run_writes_nothing(bench: Bench) -> None:
    stopped = bench.context()
    stopped.cancelled.set()

    text = bench.call("write_file", stopped, path="a", content="x").text

    assert text.startswith("[error/user_aborted]")
    assert bench.snapshot() == {}
