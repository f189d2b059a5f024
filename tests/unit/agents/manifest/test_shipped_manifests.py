"""The manifests, examples and JSON Schema that ship with Felix are valid and up to date."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.core.compile import CompiledAgent, compile_agent
from agents.core.manifest.bundled import UnknownManifest, bundled_names, bundled_text
from agents.core.manifest.reader import read_document
from agents.core.manifest.schema import manifest_json_schema
from agents.core.tools.registry import builtin_tools
from approvals.core.rules import rule_for
from sessions.core.states import RunMode

ROOT = Path(__file__).parents[4]
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))


def bundled(name: str) -> CompiledAgent:
    return compile_agent(read_document(bundled_text(name), file=name), tools=builtin_tools())


def test_three_manifests_are_bundled() -> None:
    assert bundled_names() == ("cowork", "governed", "quick")


@pytest.mark.parametrize("name", bundled_names())
def test_a_bundled_manifest_is_named_like_its_file_and_introduces_itself(name: str) -> None:
    agent = bundled(name)

    assert agent.name == name
    assert agent.description
    assert agent.greeting
    assert agent.starters
    assert len(agent.system_prompt) > 200


@pytest.mark.parametrize("name", bundled_names())
def test_no_bundled_agent_changes_a_file_without_a_gate(name: str) -> None:
    agent = bundled(name)

    writing = {"write_file", "edit_file"} & set(agent.tools)

    assert all(rule_for(agent.rules, tool, {"path": "a"}) for tool in writing)
    assert all(rule.description for rule in agent.rules)


def test_quick_is_transient_and_cannot_write() -> None:
    agent = bundled("quick")

    assert agent.mode is RunMode.TRANSIENT
    assert agent.rules == ()
    assert "calculator" in agent.tools
    assert not {"write_file", "edit_file"} & set(agent.tools)


@pytest.mark.parametrize("name", ["cowork", "governed"])
def test_the_gated_agents_are_durable_and_may_write(name: str) -> None:
    agent = bundled(name)

    assert agent.mode is RunMode.DURABLE
    assert {"write_file", "edit_file"} <= set(agent.tools)


def test_governed_has_tighter_limits_than_cowork() -> None:
    tight, wide = bundled("governed").limits, bundled("cowork").limits

    assert tight.max_tool_calls < wide.max_tool_calls
    assert tight.max_wall_clock_seconds < wide.max_wall_clock_seconds
    assert tight.recursion_limit < wide.recursion_limit


def test_governed_has_a_rule_of_its_own_for_edits_everywhere() -> None:
    rules = bundled("governed").rules

    wide = rule_for(rules, "edit_file", {"path": "a", "replace_all": True})
    narrow = rule_for(rules, "edit_file", {"path": "a"})

    assert (wide and wide.id, narrow and narrow.id) == ("edit-everywhere", "every-write")
    assert all(rule.quorum == 1 and rule.allow_self for rule in rules)


@pytest.mark.parametrize("name", ["nobody", "../quick", "quick.yaml", ""])
def test_a_name_that_is_not_bundled_is_refused(name: str) -> None:
    with pytest.raises(UnknownManifest):
        bundled_text(name)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_valid_and_named_like_its_file(path: Path) -> None:
    agent = compile_agent(read_document(path.read_bytes(), file=path.name), tools=builtin_tools())

    assert agent.name == path.stem


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 3


def test_the_checked_in_schema_is_the_one_of_the_models() -> None:
    stored = (ROOT / "schemas" / "felix-v1.schema.json").read_text(encoding="utf-8")

    assert stored == json.dumps(manifest_json_schema(), indent=2, ensure_ascii=False) + "\n"


def test_the_schema_closes_every_object() -> None:
    schema = manifest_json_schema()

    parts = [schema, *schema["$defs"].values()]

    assert all(part["additionalProperties"] is False for part in parts)
