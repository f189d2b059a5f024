"""Every field of a manifest that holds a value, and where the compiled agent carries it.

A path names keys; `[]` stands for the entries of a list. A field that is accepted is enforced: one
that is in the schema and not in this table fails a test.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from agents.core.compile import CompiledAgent, Greeting
from agents.core.manifest.schema import Manifest
from sessions.core.states import RunMode

BASE: dict[str, Any] = {
    "metadata": {
        "name": "a",
        "starters": [{"title": "t", "prompt": "p"}],
        "greeting": {"headline": "h"},
    },
    "spec": {"approvals": [{"id": "r", "tools": ["write_file"]}], "execution": {"mode": "durable"}},
}


class Leaf(NamedTuple):
    """A value that differs from the base's, and what the agent carries then."""

    value: Any
    carried: Callable[[CompiledAgent], Any]
    expected: Any


def same(value: Any, carried: Callable[[CompiledAgent], Any]) -> Leaf:
    """Return a leaf that is carried as it was written."""
    return Leaf(value, carried, value)


def greeting(agent: CompiledAgent) -> Greeting:
    """Return the agent's greeting; the base has one."""
    assert agent.greeting is not None
    return agent.greeting


ONE_VALUE = {
    "apiVersion": "felix/v1",
    "kind": "Agent",
    "spec.pattern": "react",
    "spec.session.strategy": "full_replay",
}
"""Fields with a single value allowed: there is nothing to carry."""

LEAVES: dict[str, Leaf] = {
    "metadata.name": same("b", lambda agent: agent.name),
    "metadata.version": same("2", lambda agent: agent.label),
    "metadata.description": same("d", lambda agent: agent.description),
    "metadata.tags": Leaf(["x"], lambda agent: agent.tags, ("x",)),
    "metadata.starters[].title": same("t2", lambda agent: agent.starters[0].title),
    "metadata.starters[].prompt": same("p2", lambda agent: agent.starters[0].prompt),
    "metadata.greeting.headline": same("h2", lambda agent: greeting(agent).headline),
    "metadata.greeting.subtitle": same("s", lambda agent: greeting(agent).subtitle),
    "spec.model.id": same("sonnet", lambda agent: agent.model_id),
    "spec.model.temperature": same(0.5, lambda agent: agent.temperature),
    "spec.model.max_tokens": same(9, lambda agent: agent.max_tokens),
    "spec.system_prompt.inline": same("Be brief.", lambda agent: agent.system_prompt),
    "spec.tools": Leaf(["read_file"], lambda agent: agent.tools, ("read_file",)),
    "spec.approvals[].id": same("r2", lambda agent: agent.rules[0].id),
    "spec.approvals[].description": same("why", lambda agent: agent.rules[0].description),
    "spec.approvals[].tools": Leaf(["edit_*"], lambda agent: agent.rules[0].tools, ("edit_*",)),
    "spec.approvals[].ttl_seconds": same(7200, lambda agent: agent.rules[0].ttl_seconds),
    "spec.approvals[].one_shot": same(False, lambda agent: agent.rules[0].one_shot),
    "spec.approvals[].bind_principal": same(True, lambda agent: agent.rules[0].bind_principal),
    "spec.approvals[].allow_unattended": same(True, lambda agent: agent.rules[0].allow_unattended),
    "spec.approvals[].when_args": Leaf(["path"], lambda agent: agent.rules[0].when_args, ("path",)),
    "spec.approvals[].reviewers": Leaf(
        ["operator"], lambda agent: agent.rules[0].reviewers, ("operator",)
    ),
    "spec.approvals[].quorum": same(2, lambda agent: agent.rules[0].quorum),
    "spec.approvals[].allow_self": same(False, lambda agent: agent.rules[0].allow_self),
    "spec.approvals[].extendable": same(False, lambda agent: agent.rules[0].extendable),
    "spec.limits.max_tool_calls": same(0, lambda agent: agent.limits.max_tool_calls),
    "spec.limits.max_wall_clock_seconds": same(
        60, lambda agent: agent.limits.max_wall_clock_seconds
    ),
    "spec.recursion_limit": same(3, lambda agent: agent.limits.recursion_limit),
    "spec.execution.mode": Leaf("transient", lambda agent: agent.mode, RunMode.TRANSIENT),
    "spec.execution.tools": Leaf("parallel", lambda agent: agent.parallel_tools, True),
    "spec.execution.resume_token_ttl_seconds": same(60, lambda agent: agent.run_ttl_seconds),
    "spec.workspace.scope": same("tenant", lambda agent: agent.workspace_scope),
}


def fields_of_schema(
    model: type[BaseModel] = Manifest, prefix: str = ""
) -> Iterator[tuple[str, FieldInfo]]:
    """Yield each field that holds a value, by its path."""
    for name, field in model.model_fields.items():
        path = prefix + (field.alias or name)
        part = _part_under(field.annotation)
        if part is None:
            yield path, field
        else:
            is_list = getattr(field.annotation, "__origin__", None) is list
            yield from fields_of_schema(part, f"{path}[]." if is_list else f"{path}.")


def _part_under(annotation: Any) -> type[BaseModel] | None:
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


def with_value(data: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy of manifest data that has the value at the path."""
    changed = copy.deepcopy(data)
    *parents, last = path.split(".")
    place = changed
    for parent in parents:
        key = parent.removesuffix("[]")
        place = place.setdefault(key, {})
        if parent.endswith("[]"):
            place = place[0]
    place[last] = copy.deepcopy(value)
    return changed
