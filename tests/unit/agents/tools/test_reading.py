"""list_dir, list_files, read_file and read_output on real files."""

from __future__ import annotations

import json
import os
import re

import pytest

from tests.unit.agents.tools.bench import Bench


def test_list_dir_sorts_without_regard_to_case(bench: Bench) -> None:
    bench.put("b.txt", "12")
    bench.put("A/x", "")
    bench.put("C.txt", "")

    lines = [json.loads(line) for line in bench.text("list_dir").splitlines()]

    assert lines == [
        {"name": "A", "type": "directory"},
        {"name": "b.txt", "type": "file", "size": 2},
        {"name": "C.txt", "type": "file", "size": 0},
    ]


def test_list_dir_says_when_it_is_cut(bench: Bench) -> None:
    for number in range(501):
        bench.put(f"{number:03}", "")

    lines = bench.text("list_dir").splitlines()

    assert len(lines) == 501
    assert json.loads(lines[499])["name"] == "499"
    assert lines[500] == "(the first 500 of 501 entries)"


def test_an_empty_and_a_missing_directory_are_told_apart(bench: Bench) -> None:
    assert bench.text("list_dir") == "(empty directory)"
    assert bench.text("list_dir", path="none").startswith("[error/not_found]")


def test_a_name_cannot_write_a_line_of_its_own(bench: Bench) -> None:
    bench.put("a\nfake.txt", "hit")
    (bench.root / os.fsdecode(b"\xff")).write_text("hit")

    assert bench.text("list_files", pattern="*") == '"a\\nfake.txt"\n\ufffd'
    assert len(bench.text("list_dir").splitlines()) == 2
    assert bench.text("search_files", query="hit").splitlines()[0] == '"a\\nfake.txt":1: hit'


def test_list_files_gives_relative_paths_in_order(bench: Bench) -> None:
    for path in ["src/b.py", "src/a/z.py", "src/a.py", "src/c.txt", "top.py"]:
        bench.put(path, "")

    assert bench.text("list_files", pattern="**/*.py").splitlines() == [
        "src/a/z.py",
        "src/a.py",
        "src/b.py",
        "top.py",
    ]
    assert bench.text("list_files", pattern="*.py", path="src") == "src/a.py\nsrc/b.py"


def test_list_files_says_more_only_when_there_is_more(bench: Bench) -> None:
    for number in range(4):
        bench.put(f"{number}", "")

    more = bench.text("list_files", pattern="*", max_results=3).splitlines()
    all_of_them = bench.text("list_files", pattern="*", max_results=4).splitlines()

    assert more == ["0", "1", "2", "(more than 3 files match; narrow the pattern)"]
    assert all_of_them == ["0", "1", "2", "3"]


def test_what_others_made_is_left_out_unless_it_is_named(bench: Bench) -> None:
    for path in [".git/x", "node_modules/x", "objects/x", "binary-search/x"]:
        bench.put(path, "needle")

    assert bench.text("list_files", pattern="**/x").splitlines() == [
        "binary-search/x",
        "objects/x",
        "(left out: .git, node_modules; name one to enter it)",
    ]
    assert bench.text("list_files", pattern="**", path=".git") == ".git/x"
    assert bench.text("list_files", pattern="node_modules/*") == "node_modules/x"
    assert ".git/x" not in bench.text("search_files", query="needle")


def test_a_workspace_below_a_directory_of_an_excluded_name_is_listed(bench: Bench) -> None:
    inner = Bench(bench.data_dir / "bin")
    inner.root.mkdir(parents=True)
    inner.put("a.txt", "")

    assert inner.text("list_files", pattern="**") == "a.txt"


def test_read_file_numbers_lines_and_ends_with_the_facts(bench: Bench) -> None:
    bench.put("f", "one\ntwo\nthree")

    assert bench.text("read_file", path="f") == (
        "     1\tone\n     2\ttwo\n     3\tthree\n(lines 1-3 of 3; UTF-8)"
    )


def test_pages_of_a_file_give_every_line_once(bench: Bench) -> None:
    lines = [f"line {number} é" for number in range(1, 701)]
    bench.put("f", "\n".join(lines) + "\n")
    seen: list[str] = []
    following: int | None = 1

    while following:
        text = bench.text("read_file", path="f", offset=following, limit=123)
        seen += re.findall(r"^ *\d+\t(.*)$", text, re.MULTILINE)
        match = re.search(r"next offset (\d+)", text)
        following = int(match[1]) if match else None

    assert seen == lines


@pytest.mark.parametrize(
    ("data", "line", "facts"),
    [
        (b"\xef\xbb\xbfa\r\n", "a", "UTF-8 with byte order mark; CRLF line ends"),
        (b"\xff\xfea\x00\n\x00", "a", "UTF-16-LE with byte order mark"),
        (b"a\xff\n", "a\ufffd", "UTF-8; invalid bytes shown as U+FFFD"),
        ("a\ufffd\n".encode(), "a\ufffd", "UTF-8"),
    ],
)
def test_read_file_says_how_it_decoded(bench: Bench, data: bytes, line: str, facts: str) -> None:
    bench.put("f", data)

    assert bench.text("read_file", path="f") == f"     1\t{line}\n(lines 1-1 of 1; {facts})"


def test_a_binary_and_an_empty_file_are_said_to_be_so(bench: Bench) -> None:
    bench.put("b", b"ELF\0\1")
    bench.put("e", b"")

    assert bench.text("read_file", path="b") == "(binary file of 5 bytes; it is not shown)"
    assert bench.text("read_file", path="e") == "(empty file)"


def test_a_long_line_is_cut_and_the_rest_counted(bench: Bench) -> None:
    bench.put("f", "x" * 200_000 + "\nnext\n")

    first, second, _ = bench.text("read_file", path="f").splitlines()

    assert first.endswith("x [... 198,001 more characters]")
    assert len(first) < 2100
    assert second == "     2\tnext"


def test_an_offset_behind_the_end_names_the_length(bench: Bench) -> None:
    bench.put("f", "a\nb\n")

    text = bench.text("read_file", path="f", offset=9)

    assert text == '[error/invalid_arguments] offset 9: "f" has 2 lines.'


def test_a_huge_sparse_file_is_answered_at_once(bench: Bench) -> None:
    file = bench.put("f", "a\n" * 5000)
    os.truncate(file, 50 << 30)

    text = bench.text("read_file", path="f", limit=1)

    assert text.startswith("     1\ta\n(lines 1-1 of more than 5,00")
    assert bench.text("search_files", query="a").endswith(
        "(files over 1,000,000 bytes not searched: 1)"
    )


def test_reading_a_missing_file_is_not_found(bench: Bench) -> None:
    assert bench.text("read_file", path="none").startswith("[error/not_found]")
    assert bench.text("read_file", path="no/ne").startswith("[error/not_found]")


def test_an_output_is_paged_to_its_end(bench: Bench) -> None:
    bench.outputs["out_1"] = "abcdefghij"

    first = bench.text("read_output", id="out_1", limit=6)
    second = bench.text("read_output", id="out_1", offset=6)

    assert first == "[characters 0-6 of 10; next offset 6]\nabcdef"
    assert second == "[characters 6-10 of 10; end of output]\nghij"


def test_an_output_that_this_thread_does_not_have_is_not_found(bench: Bench) -> None:
    assert bench.text("read_output", id="out_2").startswith("[error/not_found]")


def test_an_offset_behind_the_end_of_an_output_is_refused(bench: Bench) -> None:
    bench.outputs["out_1"] = "abc"

    assert bench.text("read_output", id="out_1", offset=3).endswith("end of output]\n")
    assert bench.text("read_output", id="out_1", offset=4).startswith("[error/invalid_arguments]")
