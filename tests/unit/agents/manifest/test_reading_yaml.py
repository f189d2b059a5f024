"""Which text is a document, and where the author is sent when it is not."""

from __future__ import annotations

import json

import pytest

from agents.core.manifest.document import Position
from agents.core.manifest.reader import read_document
from tests.unit.agents.manifest.known import compiled, refusal

GOOD = "metadata:\n  name: notes\n"


def data(text: str | bytes) -> object:
    return read_document(text).data


def test_every_key_and_value_has_its_place() -> None:
    document = read_document("metadata:\n  name: notes\nspec:\n  tools:\n    - a\n    - b\n")

    assert document.position(("spec", "tools", 1)) == Position(6, 7)
    assert document.key_position(("spec", "tools")) == Position(4, 3)
    assert document.position(("metadata", "name")) == Position(2, 9)


def test_a_place_that_is_not_there_is_the_nearest_one_above_it() -> None:
    document = read_document("metadata:\n  name: notes\n")

    assert document.position(("metadata", "tags", 3)) == Position(2, 3)


def test_columns_count_characters_not_bytes() -> None:
    assert refusal("metadata: {name: a, description: 'é😀', x: 1}").startswith("m.yaml:1:40: ")


def test_json_is_read_too_with_its_places() -> None:
    text = json.dumps({"metadata": {"name": "a", "x": 1}}, indent=1)

    assert refusal(text) == "m.yaml:4:3: metadata has no field 'x'"


def test_json_may_be_indented_with_tabs_and_escape_its_slashes() -> None:
    assert data('{\n\t"metadata":{"name":"a\\/b"}\n}') == {"metadata": {"name": "a/b"}}


def test_a_surrogate_pair_of_json_is_its_character_and_moves_no_column() -> None:
    text = r'{"metadata": {"name": "a", "description": "\ud83d\ude00 \\ud83d", "x": 1}}'

    description = read_document(text.replace(', "x": 1', "")).data["metadata"]["description"]

    assert description == "😀 \\ud83d"
    column = text.index('"x"') + 1
    assert refusal(text).startswith(f"m.yaml:1:{column}: ")


def test_many_surrogate_pairs_on_a_line_move_no_column() -> None:
    pairs = "\\ud83d\\ude00" * 20
    text = f'{{"metadata": {{"name": "a", "tags": ["{pairs}", 7, "{pairs}"]}}}}'

    assert refusal(text).startswith(f"m.yaml:1:{text.index('7') + 1}: metadata.tags[1] must")


def test_letters_that_look_like_an_escape_stay_letters_in_yaml() -> None:
    assert data("{a: '\\ud83d\\ude00'}") == {"a": "\\ud83d\\ude00"}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_counts_as_one_line(end: str) -> None:
    text = end.join(["metadata:", "  name: a", "  nmae: b"])

    assert refusal(text) == "m.yaml:3:3: metadata has no field 'nmae' (did you mean name?)"


def test_a_byte_order_mark_is_not_a_character_of_the_manifest() -> None:
    assert data(b"\xef\xbb\xbf" + GOOD.encode()) == data(GOOD)
    assert refusal("\ufeffx: 1\n" + GOOD).startswith("m.yaml:1:1: ")


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "\ufeff", "---\n...\n"])
def test_an_empty_file_is_refused(text: str) -> None:
    assert refusal(text) in {
        "m.yaml:1:1: the manifest is empty",
        "m.yaml:2:1: a manifest is a mapping with apiVersion, kind, metadata and spec",
    }


@pytest.mark.parametrize("text", ["just words", "- a\n- b\n", "[]", "7"])
def test_what_is_not_a_mapping_is_refused(text: str) -> None:
    assert refusal(text).startswith("m.yaml:1:1: a manifest is a mapping")


def test_a_tab_as_indentation_is_named() -> None:
    assert refusal("metadata:\n\tname: a\n") == ("m.yaml:2:1: a tab cannot indent YAML; use spaces")


def test_broken_yaml_is_refused_with_its_place() -> None:
    assert refusal("metadata:\n  name: [a\nspec: {}\n").startswith(
        "m.yaml:3:5: this is not valid YAML: "
    )


def test_a_key_given_twice_is_refused_and_the_first_is_named() -> None:
    text = "metadata:\n  name: a\n  tags: []\n  name: b\n"

    assert refusal(text) == "m.yaml:4:3: the key 'name' is given twice; first on line 2"


def test_a_key_given_twice_in_json_is_refused() -> None:
    assert "m.yaml:1:8: the key 'a' is given twice" in refusal('{"a":1,"a":2}')


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("metadata: {1: a}", "1:12"),
        ("a: 1\ntrue: 2", "2:1"),
        ("null: 2", "1:1"),
        ("? [a]\n: 1", "1:3"),
        ("? {a: 1}\n: 1", "1:3"),
        ("a: &x b\n*x : 1", "2:1"),
    ],
)
def test_a_key_that_is_not_plain_text_is_refused(text: str, place: str) -> None:
    assert refusal(text).startswith(f"m.yaml:{place}: a key must be ")


@pytest.mark.parametrize("word", ["n", "no", "off", "y", "on"])
def test_the_short_words_of_old_yaml_are_text(word: str) -> None:
    assert data(f"{word}: {word}") == {word: word}


def test_a_merge_key_is_refused() -> None:
    assert refusal("a: &x {b: 1}\nc:\n  <<: *x\n").startswith("m.yaml:3:3: merge keys")


@pytest.mark.parametrize(
    "text", ["a: !!str 1", "a: ! 1", "a: !!python/name:os.system x", "a: !x []"]
)
def test_a_tag_is_refused(text: str) -> None:
    assert refusal(text) == "m.yaml:1:4: tags (!...) are not allowed in a manifest"


def test_a_second_document_is_refused() -> None:
    assert refusal("a: 1\n---\nb: 2\n").startswith("m.yaml:2:1: a file holds one manifest")


def test_the_marks_of_one_document_are_allowed() -> None:
    assert data("%YAML 1.1\n---\na: 1\n...\n") == {"a": 1}


@pytest.mark.parametrize("word", [".nan", ".NaN", "NaN", ".inf", "-.INF", "+.inf", "-Infinity"])
def test_what_json_cannot_say_is_refused(word: str) -> None:
    assert refusal(f"a: {word}").startswith("m.yaml:1:4: infinity and NaN are not numbers here")


@pytest.mark.parametrize("word", ["1e999", "9007199254740992", "-" + "9" * 5000])
def test_a_number_out_of_range_is_refused(word: str) -> None:
    assert refusal(f"a: {word}").startswith("m.yaml:1:4: this number is too large")


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("7", 7),
        ("-0", 0),
        ("0.5", 0.5),
        ("1e-1", 0.1),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("'7'", "7"),
        ("0600", "0600"),
        ("0x1f", "0x1f"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2026-01-01", "2026-01-01"),
        ("'.nan'", ".nan"),
    ],
)
def test_a_plain_word_means_what_json_says_and_otherwise_text(word: str, value: object) -> None:
    read = read_document(f"a: {word}").data["a"]

    assert (read, type(read)) == (value, type(value))


def test_a_control_character_is_refused_where_it_stands() -> None:
    assert refusal("metadata:\n  name: a\x00b\n") == (
        "m.yaml:2:10: the character U+0000 is not allowed in a manifest"
    )


@pytest.mark.parametrize("escaped", [r'"\0"', r'"\x1b[2J"', r'"\uFFFE"'])
def test_an_escaped_control_character_is_refused_too(escaped: str) -> None:
    assert refusal(f"a: {escaped}").startswith("m.yaml:1:4: this text holds a control character")


def test_a_lone_surrogate_is_refused() -> None:
    assert "U+D800" in refusal("a: \ud800")
    assert refusal('{"a": "\\ud800"}').startswith("m.yaml:1:")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("a: 1".encode("utf-16"), "1:1: this file is UTF-16; save it as UTF-8"),
        (b"a: 1\nb: \xff", "2:4: this byte is not UTF-8; save the file as UTF-8"),
    ],
)
def test_another_encoding_is_refused(source: bytes, message: str) -> None:
    assert refusal(source) == f"m.yaml:{message}"


def test_an_alias_is_read_as_a_copy() -> None:
    read = read_document("a: &x [1]\nb: *x\n").data

    read["a"].append(2)

    assert read == {"a": [1, 2], "b": [1]}


def test_an_alias_serves_a_manifest() -> None:
    agent = compiled("""
        metadata: {name: a}
        spec:
          tools: &all [write_file, edit_file]
          approvals:
            - {id: w, tools: *all}
        """)

    assert agent.rules[0].tools == ("write_file", "edit_file")
