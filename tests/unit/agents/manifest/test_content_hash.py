"""The content hash moves with the agent, and with nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticUndefined

from agents.core.manifest.document import Document
from agents.core.manifest.hash import content_hash
from agents.core.manifest.schema import Manifest, Spec
from agents.core.manifest.shape import shape_of
from tests.unit.agents.manifest.known import compiled
from tests.unit.agents.manifest.leaves import BASE, LEAVES, fields_of_schema, with_value

DEFAULTS = {
    path: field.get_default(call_default_factory=True)
    for path, field in fields_of_schema()
    if field.get_default(call_default_factory=True) is not PydanticUndefined
}
MAY_BE_WRITTEN = sorted(DEFAULTS.keys() - {"spec.execution.mode"})


def hash_of(data: dict[str, Any]) -> str:
    manifest, problems = shape_of(Document(data))
    assert manifest is not None, problems
    return content_hash(manifest)


def reordered(value: Any, order: Any) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        order.shuffle(keys)
        return {key: reordered(value[key], order) for key in keys}
    if isinstance(value, list):
        return [reordered(entry, order) for entry in value]
    return value


@given(
    said=st.sets(st.sampled_from(sorted(LEAVES))),
    written=st.sets(st.sampled_from(MAY_BE_WRITTEN)),
    order=st.randoms(use_true_random=False),
)
def test_key_order_and_written_defaults_do_not_move_it(
    said: set[str], written: set[str], order: Any
) -> None:
    plain = BASE
    for path in said:
        plain = with_value(plain, path, LEAVES[path].value)
    full = plain
    for path in written - said:
        full = with_value(full, path, DEFAULTS[path])

    assert hash_of(reordered(full, order)) == hash_of(plain)


@pytest.mark.parametrize("path", LEAVES)
def test_every_effective_change_moves_it(path: str) -> None:
    assert hash_of(with_value(BASE, path, LEAVES[path].value)) != hash_of(BASE)


def test_two_changes_never_hash_alike() -> None:
    changed = [hash_of(with_value(BASE, path, leaf.value)) for path, leaf in LEAVES.items()]

    assert len(set(changed)) == len(LEAVES)


def test_empty_objects_say_nothing() -> None:
    bare: dict[str, Any] = {"metadata": {"name": "a"}}

    empty: dict[str, Any] = {"model": {}, "limits": {}, "execution": {}, "tools": []}

    assert hash_of(bare | {"spec": empty}) == hash_of(bare)


def test_the_order_of_tools_and_rules_is_part_of_it() -> None:
    one = with_value(BASE, "spec.tools", ["read_file", "list_dir"])
    other = with_value(BASE, "spec.tools", ["list_dir", "read_file"])

    assert hash_of(one) != hash_of(other)


def test_a_whole_number_and_its_decimal_form_hash_alike() -> None:
    one = with_value(BASE, "spec.model.temperature", 1)
    other = with_value(BASE, "spec.model.temperature", 1.0)

    assert hash_of(one) == hash_of(other)


def test_a_field_that_a_later_build_adds_with_a_default_does_not_move_it() -> None:
    class LaterSpec(Spec):
        novelty: int = 3

    class LaterManifest(Manifest):
        spec: LaterSpec = LaterSpec()

    later = LaterManifest.model_validate(BASE)

    assert content_hash(later) == hash_of(BASE)
    assert content_hash(LaterManifest.model_validate(with_value(BASE, "spec.novelty", 4))) != (
        hash_of(BASE)
    )


def test_it_is_the_same_in_every_version_of_felix() -> None:
    assert hash_of(BASE) == ("20cf61952f4962c2dee778249b96a16a7fc42260d38941ff035e909386960e07")


def test_comments_and_quotes_do_not_move_it_and_the_agent_carries_it() -> None:
    one = compiled("metadata: {name: a, tags: [x]}")
    other = compiled('# a comment\n"metadata":\n  tags:\n  - "x"\n  name: a\n')

    assert one.content_hash == other.content_hash
