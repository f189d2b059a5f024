"""Text made to exhaust the reader is refused early."""

from __future__ import annotations

import tracemalloc

import pytest

from agents.core.manifest.reader import read_document
from tests.unit.agents.manifest.known import refusal

MEGABYTE = 1024 * 1024


def laughs(levels: int, each: int = 9) -> str:
    def line(level: int) -> str:
        below = f"*l{level - 1}" if level else "lol"
        return f"l{level}: &l{level} [" + ", ".join([below] * each) + "]"

    return "\n".join(line(level) for level in range(levels))


def test_aliases_of_aliases_are_refused_by_what_they_expand_to() -> None:
    tracemalloc.start()
    said = refusal(laughs(7))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert said.startswith("m.yaml:5:")
    assert "more than 20,000 values, aliases counted in full" in said
    assert peak < 10 * MEGABYTE


def test_more_than_sixty_four_aliases_are_refused() -> None:
    assert refusal("a: &x 1\nb: [" + "*x, " * 65 + "]").endswith("more than 64 aliases")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: &x [*x]", "1:8: the alias 'x' stands inside what it refers to"),
        ("a: &x {b: [*x]}", "1:12: the alias 'x' stands inside what it refers to"),
        ("a: *x", "1:4: the alias 'x' refers to nothing above it"),
    ],
)
def test_an_alias_without_a_finished_target_is_refused(text: str, said: str) -> None:
    assert refusal(text) == f"m.yaml:{said}"


@pytest.mark.parametrize("bracket", ["[", "{a: ", "- "])
def test_endless_nesting_is_refused_cleanly(bracket: str) -> None:
    assert refusal("a:\n " + bracket * 50_000).endswith("nested more than 32 levels deep")


def test_aliases_do_not_nest_deeper_than_text_may() -> None:
    text = "a: &a " + "[" * 20 + "]" * 20 + "\nb: " + "[" * 20 + "*a" + "]" * 20

    assert refusal(text) == "m.yaml:2:24: nested more than 32 levels deep"


def test_thirty_two_levels_are_read() -> None:
    assert read_document("a: " + "[" * 31 + "]" * 31).data


def test_more_than_twenty_thousand_values_are_refused() -> None:
    assert "more than 20,000 values" in refusal("a: [" + "b," * 30_000 + "]")


def test_text_beyond_256_kib_is_refused_before_it_is_parsed() -> None:
    said = "m.yaml:1:1: the manifest is 257 KiB large; at most 256 KiB are read"

    assert refusal(b"{" * 257 * 1024) == said
    assert refusal("é" * (257 * 512)) == said


def test_exactly_256_kib_are_read() -> None:
    text = "metadata: {name: a}\n# "

    assert read_document(text + "x" * (256 * 1024 - len(text))).data


def test_nine_thousand_wrong_keys_are_answered_with_the_first_fifty() -> None:
    keys = "\n".join(f"  toolz{number}: 1" for number in range(9_000))

    lines = refusal("metadata: {name: a}\nspec:\n" + keys).splitlines()

    assert lines[0] == "m.yaml:3:3: spec has no field 'toolz0' (did you mean tools?)"
    assert lines[50:] == ["m.yaml: and at least 8950 more"]


def test_the_fifty_that_are_shown_are_the_first_of_the_file() -> None:
    keys = "\n".join(f"  toolz{number}: 1" for number in range(60))

    lines = refusal(f"metadata: {{name: a}}\nspec:\n{keys}\n  recursion_limit: 99").splitlines()

    assert len(lines) == 51
    assert all("has no field" in line for line in lines[:50])


def test_a_key_of_200_kib_is_cut_in_the_answer() -> None:
    said = refusal("metadata: {name: a}\n? " + "k" * 200_000 + "\n: 1\n")

    assert said.startswith("m.yaml:2:3: a manifest has no field 'kkk")
    assert len(said) < 200
