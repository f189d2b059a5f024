"""What a reviewer sees of a write, and that only what was seen is written."""

from __future__ import annotations

import pytest

from agents.core.tools.base import DiffLine, ToolFailed
from agents.core.tools.registry import builtin_tools
from agents.core.tools.write_file import WriteFileArgs
from tests.unit.agents.tools.bench import Bench

EDIT = {"path": "f", "old_string": "5", "new_string": "five"}


def test_the_evidence_of_an_edit_is_its_diff_with_three_lines_of_context(bench: Bench) -> None:
    bench.put("f", "".join(f"{number}\n" for number in range(1, 10)))

    evidence = bench.evidence("edit_file", **EDIT)

    assert evidence.diff == (
        DiffLine(" ", 2, 2, "2"),
        DiffLine(" ", 3, 3, "3"),
        DiffLine(" ", 4, 4, "4"),
        DiffLine("-", 5, None, "5"),
        DiffLine("+", None, 5, "five"),
        DiffLine(" ", 6, 6, "6"),
        DiffLine(" ", 7, 7, "7"),
        DiffLine(" ", 8, 8, "8"),
    )
    assert (evidence.target, evidence.added, evidence.removed, evidence.total) == ("f", 1, 1, 9)


def test_a_new_file_is_said_to_be_one(bench: Bench) -> None:
    evidence = bench.evidence("write_file", path="./f", content="a\nb")

    assert [line.text for line in evidence.diff] == ["a", "b"]
    assert evidence.target == "f"
    assert evidence.note == "New file. No line end at the end of the file."


def test_a_binary_file_that_is_replaced_is_said_to_be_one(bench: Bench) -> None:
    bench.put("f", b"\0" * 2000)

    evidence = bench.evidence("write_file", path="f", content="a\n")

    assert evidence.note == "The binary file of 2,000 bytes is replaced as a whole."
    assert (evidence.added, evidence.removed) == (1, 0)


def test_crlf_lines_are_compared_without_their_ends_and_said(bench: Bench) -> None:
    bench.put("f", "a\r\n5\r\n")

    evidence = bench.evidence("edit_file", **EDIT)

    assert [line.text for line in evidence.diff] == ["a", "5", "five"]
    assert evidence.note == "Lines end with CRLF."


def test_the_evidence_can_be_stored_whatever_the_bytes(bench: Bench) -> None:
    bench.put("f", b"\xe9\n5\n")

    evidence = bench.evidence("edit_file", **EDIT)

    assert evidence.diff[0].text == "\ufffd"
    assert "not valid UTF-8" in evidence.note
    assert str(evidence.as_json()).encode()


def test_a_large_diff_is_complete(bench: Bench) -> None:
    bench.put("f", "".join(f"old {number}\n" for number in range(20_000)))
    content = "".join(f"new {number}\n" for number in range(20_000))

    evidence = bench.evidence("write_file", path="f", content=content)

    assert (evidence.added, evidence.removed, len(evidence.diff)) == (20_000, 20_000, 40_000)


def test_an_edit_that_cannot_be_done_is_refused_before_a_person_is_asked(bench: Bench) -> None:
    bench.put("f", "nothing")

    with pytest.raises(ToolFailed) as refused:
        bench.evidence("edit_file", **EDIT)

    assert refused.value.code == "not_found"


def test_looking_at_a_write_changes_nothing(bench: Bench) -> None:
    bench.put("f", "5")
    before = bench.snapshot()

    bench.evidence("edit_file", **EDIT)
    bench.evidence("write_file", path="new/g", content="x")

    assert bench.snapshot() == before


@pytest.mark.parametrize(
    ("tool", "args"), [("edit_file", EDIT), ("write_file", {"path": "f", "content": "new"})]
)
def test_a_file_that_changed_after_the_review_is_not_written(
    bench: Bench, tool: str, args: dict[str, object]
) -> None:
    file = bench.put("f", "5")
    seen = bench.preimage(tool, **args)
    file.write_text("5 and more")

    text = bench.call(tool, bench.context(preimage=seen), **args).text

    assert text.startswith("[error/evidence_changed]")
    assert file.read_text() == "5 and more"


def test_a_file_that_is_as_reviewed_is_written(bench: Bench) -> None:
    file = bench.put("f", "5")
    seen = bench.preimage("edit_file", **EDIT)

    bench.call("edit_file", bench.context(preimage=seen), **EDIT)

    assert file.read_text() == "five"


def test_a_file_that_appeared_or_went_after_the_review_is_not_written(bench: Bench) -> None:
    args = {"path": "f", "content": "x"}
    absent = bench.preimage("write_file", **args)
    file = bench.put("f", "")
    empty = bench.preimage("write_file", **args)

    appeared = bench.call("write_file", bench.context(preimage=absent), **args)
    file.unlink()
    went = bench.call("write_file", bench.context(preimage=empty), **args)

    assert absent == "absent"
    assert appeared.text.startswith("[error/evidence_changed]")
    assert went.text.startswith("[error/evidence_changed]")
    assert bench.snapshot() == {}


def test_the_preimage_of_a_symlink_is_refused(bench: Bench) -> None:
    (bench.root / "f").symlink_to("elsewhere")

    with pytest.raises(ToolFailed, match="symlink"):
        bench.preimage("write_file", path="f", content="x")


def test_two_spellings_of_a_path_are_one_target() -> None:
    tool = builtin_tools()["write_file"]
    spellings = ["a/b", "./a//b", "a/c/../b"]

    targets = {tool.target(WriteFileArgs(path=path, content="")) for path in spellings}

    assert targets == {"a/b"}
