"""Which rule gates a call, and how long its gate waits."""

from __future__ import annotations

from typing import Any

import pytest

from approvals.core.rules import ApprovalRule, rule_for

LITERAL = ApprovalRule("literal", tools=("write_file",))
PATTERN = ApprovalRule("pattern", tools=("write_*",))
FORCED = ApprovalRule("forced", tools=("write_file",), when_args=("append",))


def id_of(rules: list[ApprovalRule], tool: str, args: dict[str, Any]) -> str:
    found = rule_for(rules, tool, args)
    return found.id if found else ""


@pytest.mark.parametrize(
    ("rules", "tool", "expected"),
    [
        ([LITERAL], "write_file", "literal"),
        ([LITERAL], "read_file", ""),
        ([PATTERN], "write_all", "pattern"),
        ([PATTERN, LITERAL], "write_file", "literal"),
        ([LITERAL, ApprovalRule("second", tools=("write_file",))], "write_file", "literal"),
        ([LITERAL], "Write_File", ""),
    ],
)
def test_a_name_comes_before_a_pattern_and_then_the_manifests_order(
    rules: list[ApprovalRule], tool: str, expected: str
):
    assert id_of(rules, tool, {}) == expected


@pytest.mark.parametrize("value", [0, False, "yes", [1]])
def test_a_rule_on_an_argument_holds_where_it_is_present_and_zero_is_present(value: Any):
    assert id_of([FORCED], "write_file", {"append": value}) == "forced"


@pytest.mark.parametrize("args", [{}, {"append": None}, {"append": ""}, {"append": []}])
def test_a_rule_on_an_argument_does_not_hold_without_it(args: dict[str, Any]):
    assert id_of([FORCED], "write_file", args) == ""


@pytest.mark.parametrize(
    ("declared", "durable", "seconds"),
    [(None, True, 86_400), (None, False, 300), (5, True, 5), (5, False, 5)],
)
def test_a_gate_waits_as_long_as_its_rule_or_its_mode_says(
    declared: int | None, durable: bool, seconds: int
):
    assert ApprovalRule("r", ttl_seconds=declared).ttl(durable=durable) == seconds
