from __future__ import annotations

import pytest

from agents.core.tools.base import Tool
from agents.core.tools.registry import (
    UnknownTool,
    bound_tools,
    builtin_tools,
    known_tool_names,
    nearest_name,
)
from agents.core.tools.window import window
from tests.unit.agents.tools.bench import Bench

WRITERS = {"write_file", "edit_file"}
READ_CALLS: dict[str, dict[str, object]] = {
    "calculator": {"expression": "1 + 1"},
    "list_dir": {"path": "d"},
    "list_files": {"pattern": "**"},
    "read_file": {"path": "d/a.txt"},
    "search_files": {"query": "a"},
    "read_output": {"id": "out_1"},
}
every_tool = pytest.mark.parametrize("tool", builtin_tools().values(), ids=known_tool_names())


def test_the_order_of_the_tools_is_fixed() -> None:
    assert known_tool_names() == (
        "calculator",
        "list_dir",
        "list_files",
        "read_file",
        "write_file",
        "edit_file",
        "search_files",
        "read_output",
    )


@every_tool
def test_every_tool_declares_what_the_controls_need(tool: Tool) -> None:
    is_writer = tool.name in WRITERS

    assert tool.read_only is not is_writer
    assert tool.is_replay_safe is not is_writer
    assert (tool.evidence is not None, tool.preimage is not None) == (is_writer, is_writer)
    assert len(tool.digest) == 64
    assert tool.description.endswith(".")
    assert tool.spec.parameters["additionalProperties"] is False
    assert all("description" in facts for facts in tool.spec.parameters["properties"].values())


@every_tool
def test_a_change_of_the_definition_changes_its_digest(tool: Tool) -> None:
    others = [other.digest for other in builtin_tools().values() if other is not tool]

    assert tool.digest not in others


def test_every_reading_tool_is_tried_below() -> None:
    assert READ_CALLS.keys() == set(known_tool_names()) - WRITERS


@pytest.mark.parametrize("name", READ_CALLS)
def test_a_read_changes_no_file_and_answers_the_same_again(bench: Bench, name: str) -> None:
    bench.put("d/a.txt", "a\n")
    bench.outputs["out_1"] = "text"
    before = bench.snapshot()

    first, second = (bench.call(name, **READ_CALLS[name]) for _ in range(2))

    assert first == second
    assert not first.text.startswith("[error/")
    assert bench.snapshot() == before


def test_read_output_is_bound_whatever_a_manifest_lists() -> None:
    assert tuple(bound_tools([])) == ("read_output",)
    assert tuple(bound_tools(["write_file", "calculator"])) == (
        "calculator",
        "write_file",
        "read_output",
    )


def test_an_unknown_tool_is_refused_naming_the_nearest() -> None:
    with pytest.raises(UnknownTool, match=r"did you mean read_file\?"):
        bound_tools(["readfile"])


def test_a_name_that_is_near_to_none_has_no_nearest() -> None:
    assert nearest_name("qqqq", known_tool_names()) is None


def test_the_registry_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        builtin_tools()["x"] = builtin_tools()["calculator"]  # type: ignore[index]


def test_the_largest_page_of_an_output_is_shown_whole(bench: Bench) -> None:
    bench.outputs["out_1"] = "x" * 50_000
    tool = builtin_tools()["read_output"]

    text = bench.text("read_output", id="out_1", offset=20_000, limit=16_000)

    assert window(text, limit=tool.window_chars, output_id="out_2") == text
