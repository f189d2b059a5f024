"""A field that is accepted is enforced: the compiled agent carries it."""

from __future__ import annotations

import dataclasses
from typing import get_args

import pytest

from agents.core import limits
from agents.core.limits import Limits
from agents.core.manifest.schema import Approval
from approvals.core.rules import DEFAULT_REVIEWERS, ApprovalRule
from sessions.core.states import RunMode
from tests.unit.agents.manifest.known import compiled, compiled_data
from tests.unit.agents.manifest.leaves import (
    BASE,
    LEAVES,
    ONE_VALUE,
    fields_of_schema,
    with_value,
)


def test_every_field_of_the_schema_is_in_the_table_of_what_is_carried() -> None:
    assert {path for path, _ in fields_of_schema()} == LEAVES.keys() | ONE_VALUE.keys()


@pytest.mark.parametrize("path", LEAVES)
def test_a_field_that_is_accepted_is_carried(path: str) -> None:
    leaf = LEAVES[path]

    agent = compiled_data(with_value(BASE, path, leaf.value))

    assert leaf.carried(agent) == leaf.expected
    assert leaf.carried(compiled_data(BASE)) != leaf.expected


@pytest.mark.parametrize("path", ONE_VALUE)
def test_a_field_that_is_not_carried_has_one_value(path: str) -> None:
    field = dict(fields_of_schema())[path]

    assert get_args(field.annotation) == (ONE_VALUE[path],)


def test_a_name_alone_makes_an_agent_with_every_default() -> None:
    agent = compiled("metadata: {name: notes}")

    assert dataclasses.asdict(agent) | {"content_hash": ""} == {
        "name": "notes",
        "version": 0,
        "content_hash": "",
        "label": "1.0.0",
        "description": "",
        "tags": (),
        "starters": (),
        "greeting": None,
        "system_prompt": "You are notes.",
        "model_id": None,
        "temperature": 0.0,
        "max_tokens": None,
        "tools": (),
        "rules": (),
        "limits": {
            "max_tool_calls": 500,
            "max_wall_clock_seconds": 3600,
            "recursion_limit": 10,
        },
        "mode": RunMode.TRANSIENT,
        "parallel_tools": False,
        "run_ttl_seconds": 604_800,
        "workspace_scope": "thread",
    }


def test_a_rule_has_the_defaults_of_the_engine() -> None:
    agent = compiled("""
        metadata: {name: a}
        spec: {approvals: [{id: r, tools: [write_file]}]}
        """)

    assert agent.rules == (ApprovalRule(id="r", tools=("write_file",)),)
    assert agent.rules[0].one_shot is True
    assert Approval(id="r", tools=["x"]).reviewers == list(DEFAULT_REVIEWERS)


@pytest.mark.parametrize("name", [field.name.upper() for field in dataclasses.fields(Limits)])
def test_a_default_limit_never_exceeds_what_may_be_declared(name: str) -> None:
    ceiling = getattr(limits, name if name.startswith("MAX_") else f"MAX_{name}")

    assert getattr(Limits(), name.lower()) <= ceiling
    assert getattr(Limits(), name.lower()) == getattr(limits, f"DEFAULT_{name}")


def test_tools_and_rules_keep_the_order_of_the_manifest() -> None:
    agent = compiled("""
        metadata: {name: a}
        spec:
          tools: [write_file, calculator, list_dir]
          approvals:
            - {id: second, tools: ["*"]}
            - {id: first, tools: [write_file]}
        """)

    assert agent.tools == ("write_file", "calculator", "list_dir")
    assert [rule.id for rule in agent.rules] == ["second", "first"]


def test_the_base_prompt_stands_before_the_manifests_own() -> None:
    text = "metadata: {name: a}\nspec: {system_prompt: {inline: ' Mine. '}}"

    agent = compiled(text, base_system_prompt="Base.\n")

    assert agent.system_prompt == "Base.\n\n---\n\nMine."


@pytest.mark.parametrize(
    ("base", "prompt"), [("", "You are a."), ("  \n", "You are a."), ("Base.", "Base.")]
)
def test_the_prompt_of_last_resort_is_used_only_where_there_is_none(base: str, prompt: str) -> None:
    agent = compiled("metadata: {name: a}", base_system_prompt=base)

    assert agent.system_prompt == prompt


def test_the_number_of_the_stored_version_is_carried() -> None:
    assert compiled("metadata: {name: a, version: '9.9'}", version=4).version == 4


def test_a_compiled_agent_cannot_be_changed() -> None:
    agent = compiled("metadata: {name: a}")

    with pytest.raises(dataclasses.FrozenInstanceError):
        agent.name = "b"  # type: ignore[misc]


def test_a_change_of_the_data_after_compiling_changes_nothing() -> None:
    data = with_value(BASE, "spec.tools", ["read_file"])
    agent = compiled_data(data)

    data["spec"]["tools"].append("write_file")
    data["spec"]["approvals"].clear()

    assert agent.tools == ("read_file",)
    assert len(agent.rules) == 1
