"""Whatever data comes in, the answer is a manifest or a list of problems, never a crash."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agents.core.manifest.document import Document
from agents.core.manifest.problems import ManifestInvalid
from agents.core.manifest.reader import read_document
from agents.core.manifest.schema import Manifest
from agents.core.manifest.unsupported import FIELDS
from agents.core.manifest.validate import checked_manifest
from tests.unit.agents.manifest.known import TOOLS
from tests.unit.agents.manifest.leaves import BASE, LEAVES, ONE_VALUE, with_value

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=9)
)
WORDS = st.sampled_from(["write_file", "*", "path", "durable", "r", "", "name", "id", "tools"])
VALUES = st.recursive(
    SCALARS | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(), inner, max_size=3)
    ),
    max_leaves=6,
)
PLACES = st.sampled_from(
    [
        *LEAVES,
        *ONE_VALUE,
        *(f"{place}.{name}" for place, names in FIELDS.items() for name in names),
        "metadata",
        "metadata.starters",
        "spec",
        "spec.approvals",
        "spec.limits",
        "spec.execution",
    ]
)


def answer(data: dict[str, Any]) -> Manifest | list[str]:
    try:
        return checked_manifest(Document(data), tools=TOOLS)
    except ManifestInvalid as invalid:
        return [problem.message for problem in invalid.problems]


def outcome(text: str | bytes) -> dict[str, Any] | int:
    """Return the data of the text, or the line of its refusal."""
    try:
        return read_document(text).data
    except ManifestInvalid as invalid:
        return invalid.problems[0].line


@given(place=PLACES, value=VALUES)
def test_any_value_at_any_place_is_taken_or_refused_in_words(place: str, value: Any) -> None:
    said = answer(with_value(BASE, place, value))

    assert isinstance(said, Manifest) or all("is not valid" not in line for line in said)
    assert said != []


@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_any_data_is_taken_or_refused(data: dict[str, Any]) -> None:
    assert answer(data)


@given(st.text(st.characters(), max_size=60) | st.binary(max_size=60))
def test_any_text_is_read_or_refused(text: str | bytes) -> None:
    read = outcome(text)

    assert isinstance(read, dict) or read >= 1


YAMLISH = st.lists(
    st.sampled_from(
        [
            "a",
            ": ",
            "- ",
            "\n",
            "  ",
            "[",
            "]",
            "{",
            "}",
            ",",
            "&x ",
            "*x",
            "'",
            '"',
            "#",
            "|\n",
            "!",
            "? ",
            "---\n",
            "...\n",
            "\t",
            "<<",
            "1",
            "\\ud83d\\ude00",
            "é",
            "\r\n",
            ">",
            "%YAML 1.1\n",
        ]
    ),
    max_size=25,
).map("".join)


@given(YAMLISH)
def test_any_mixture_of_yaml_is_read_or_refused_inside_the_text(text: str) -> None:
    read = outcome(text)

    lines = text.replace("\r\n", "\n").split("\n")
    assert isinstance(read, dict) or 1 <= read <= len(lines) + 1
