from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.core.tools.base import ToolFailed
from agents.core.tools.globs import MAX_ALTERNATIVES, Glob

pieces = st.sampled_from(["a", "b", ".", "*", "?", "[ab]", "[!a]", "{a,bb}", "{a*,.b}"])
segments = st.just("**") | st.lists(pieces, min_size=1, max_size=3).map("".join)
patterns = st.lists(segments, min_size=1, max_size=4).map("/".join)
names = st.text("ab.", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
paths = st.lists(names, min_size=1, max_size=4).map("/".join)


def oracle(pattern: str, path: str) -> bool:
    """Match by trying every way there is."""
    return any(_segments(way.split("/"), path.split("/")) for way in _ways(pattern))


def _ways(pattern: str) -> list[str]:
    start = pattern.find("{")
    if start < 0:
        return [pattern]
    end = pattern.index("}", start)
    choices = pattern[start + 1 : end].split(",")
    rests = _ways(pattern[end + 1 :])
    return [pattern[:start] + choice + rest for choice, rest in itertools.product(choices, rests)]


def _segments(pattern: list[str], path: list[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_segments(pattern[1:], path[skip:]) for skip in range(len(path) + 1))
    return bool(path) and _name(pattern[0], path[0]) and _segments(pattern[1:], path[1:])


def _name(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(_name(pattern[1:], name[skip:]) for skip in range(len(name) + 1))
    if not name:
        return False
    if pattern[0] == "[":
        body, rest = pattern[1:].split("]", 1)
        is_member = name[0] in body.lstrip("!")
        return is_member != body.startswith("!") and _name(rest, name[1:])
    return pattern[0] in ("?", name[0]) and _name(pattern[1:], name[1:])


def usable(pattern: str) -> bool:
    ways = [way.split("/") for way in _ways(pattern)]
    return len(ways) <= MAX_ALTERNATIVES and all(
        part not in (".", "..") for way in ways for part in way
    )


@given(patterns.filter(usable), paths)
def test_it_matches_what_trying_every_way_matches(pattern: str, path: str) -> None:
    assert Glob(pattern).matches(path) == oracle(pattern, path)


@given(patterns.filter(usable), paths)
def test_a_directory_above_a_match_is_never_passed_by(pattern: str, path: str) -> None:
    glob = Glob(pattern)
    parents = ["/".join(path.split("/")[:depth]) for depth in range(1, path.count("/") + 1)]

    assert not glob.matches(path) or all(glob.may_hold(parent) for parent in parents)


@pytest.mark.parametrize(
    ("pattern", "path", "is_match"),
    [
        ("*.cs", "x.cs", True),
        ("*.cs", "src/x.cs", False),
        ("**/*.cs", "x.cs", True),
        ("src/*/x.cs", "src/a/x.cs", True),
        ("src/*/x.cs", "src/a/b/x.cs", False),
        ("a/**/b/*.cs", "a/b/x.cs", True),
        ("a/**/b/*.cs", "a/1/2/b/x.cs", True),
        ("*", ".hidden", True),
        ("[]]", "]", True),
        ("[^a-c]x", "dx", True),
        (r"\*", "*", True),
        (r"\*", "a", False),
        ("{src,test}/**/*.{py,pyi}", "test/a/b.pyi", True),
        ("{a,{b,c}}", "c", True),
        ("./a", "a", True),
        ("a.b", "axb", False),
        ("[[:alpha:]]", ":]", True),
    ],
)
def test_the_rules_of_globs(pattern: str, path: str, is_match: bool) -> None:
    assert Glob(pattern).matches(path) is is_match


@pytest.mark.parametrize(
    "pattern", ["../*", "a/../../b", "/etc/*", "[a", "{a,b", "{a,..}/x", "[z-a]", "./", "{a,}"]
)
def test_a_pattern_that_cannot_be_used_is_refused(pattern: str) -> None:
    with pytest.raises(ToolFailed) as refused:
        Glob(pattern)

    assert refused.value.code == "invalid_arguments"


def test_braces_do_not_multiply_without_bound() -> None:
    with pytest.raises(ToolFailed, match="braces"):
        Glob("{a,b}" * 40)


def test_a_pattern_of_many_stars_takes_no_longer_than_its_length() -> None:
    started = time.monotonic()

    assert not Glob("*a" * 100 + "b").matches("a" * 250)
    assert not Glob("**/" * 60 + "b").matches("a/" * 60 + "a")
    assert time.monotonic() - started < 2
