from __future__ import annotations

import time

import pytest
import re2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.core.tools.search_files import SearchFilesArgs, search
from tests.unit.agents.tools.bench import Bench


def test_a_hit_is_path_line_and_text(bench: Bench) -> None:
    bench.put("src/a.py", "import os\r\n\r\nprint(os)\r\n")

    assert bench.text("search_files", query="os").splitlines() == [
        "src/a.py:1: import os",
        "src/a.py:3: print(os)",
    ]


@pytest.mark.parametrize(
    ("args", "lines"),
    [
        ({"query": "a.c"}, ["a.c"]),
        ({"query": "a.c", "regex": True}, ["abc", "a.c"]),
        ({"query": "ABC", "ignore_case": True}, ["abc", "ABC"]),
        ({"query": "^[A-Z]+$", "regex": True}, ["ABC"]),
        ({"query": "é", "ignore_case": True}, ["É"]),
        ({"query": "none"}, []),
    ],
)
def test_literal_and_regular_queries(
    bench: Bench, args: dict[str, object], lines: list[str]
) -> None:
    bench.put("f", "abc\nABC\na.c\nÉ\n")

    found = bench.text("search_files", **args).splitlines()

    expected = [f"f:{['abc', 'ABC', 'a.c', 'É'].index(line) + 1}: {line}" for line in lines]
    assert found == (expected or ["(no line matches)"])


@given(
    st.sampled_from(
        ["^a", "a$", r"\Ab", r"a\z", "^$", r"\s", "[^a]", "(?-m)a$", "a.b", "(?i)A", "^b$", "a|^b"]
    ),
    st.lists(st.text("ab ", max_size=3), max_size=5),
    st.sampled_from(["\n", "\r\n"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_is_searched_as_if_each_line_stood_alone(
    bench: Bench, query: str, lines: list[str], line_end: str
) -> None:
    bench.put("f", line_end.join(lines))
    pattern = re2.compile(query)

    found = bench.text("search_files", query=query, regex=True).splitlines()

    has_text = any(lines) or len(lines) > 1
    hits = [f"f:{n}: {line}" for n, line in enumerate(lines, 1) if pattern.search(line)]
    assert found == (hits if hits and has_text else ["(no line matches)"])


def test_the_glob_and_the_path_narrow_the_search(bench: Bench) -> None:
    for path in ["a/x.py", "a/x.txt", "b/x.py"]:
        bench.put(path, "hit")

    assert bench.text("search_files", query="hit", path="a", glob="*.py") == "a/x.py:1: hit"


def test_more_is_said_only_when_there_is_more(bench: Bench) -> None:
    bench.put("f", "hit\n" * 3)

    assert "more than" not in bench.text("search_files", query="hit", max_hits=3)
    assert bench.text("search_files", query="hit", max_hits=2).splitlines() == [
        "f:1: hit",
        "f:2: hit",
        "(more than 2 lines match; narrow the query or the glob)",
    ]


def test_binary_files_have_no_lines_and_large_ones_are_counted(bench: Bench) -> None:
    bench.put("bin.dat", b"hit\0")
    bench.put("large", "hit\n" * 300_000)

    assert bench.text("search_files", query="hit").splitlines() == [
        "(no line matches)",
        "(files over 1,000,000 bytes not searched: 1)",
    ]


def test_a_long_line_is_cut_around_the_hit(bench: Bench) -> None:
    bench.put("f", "x" * 500_000 + "needle" + "y" * 400_000)

    text = bench.text("search_files", query="needle")

    assert "needle" in text
    assert len(text) < 320


@pytest.mark.parametrize("query", ["(a+)+$", "(a|aa)+$", "(.*)*b", "(a?){40}a{40}x"])
def test_a_regex_that_would_backtrack_for_ever_ends_fast(bench: Bench, query: str) -> None:
    bench.put("f", "a" * 500_000 + "!")
    started = time.monotonic()

    bench.text("search_files", query=query, regex=True)

    assert time.monotonic() - started < 3


@pytest.mark.parametrize("query", ["(", r"(a)\1", "(?=a)", "((a{900}){900}){900}"])
def test_an_expression_that_re2_does_not_know_is_refused(bench: Bench, query: str) -> None:
    text = bench.text("search_files", query=query, regex=True)

    assert text.startswith("[error/invalid_arguments] query: not an expression of RE2")


def test_a_search_whose_time_is_up_says_so(bench: Bench) -> None:
    bench.put("f", "hit")
    args = SearchFilesArgs(query="hit")

    text = search(args, bench.context(), budget_seconds=0)

    assert text.splitlines()[-1] == "(the time was up before every file was searched)"


def test_a_stopped_run_ends_its_search(bench: Bench) -> None:
    bench.put("f", "hit")
    ctx = bench.context()
    ctx.cancelled.set()

    assert bench.call("search_files", ctx, query="hit").text.startswith("[error/user_aborted]")


def test_a_glob_that_leaves_is_refused(bench: Bench) -> None:
    text = bench.text("search_files", query="root", glob="../*")

    assert text.startswith("[error/invalid_arguments]")
