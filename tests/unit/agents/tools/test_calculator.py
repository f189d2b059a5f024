from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.core.tools.base import ToolFailed
from agents.core.tools.calculator import calculate
from tests.unit.agents.tools.bench import Bench

numbers = st.integers(0, 999).map(str) | st.sampled_from(["0.5", "2.25", "1e3"])
safe_expressions = st.recursive(
    numbers,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner).map(
            lambda parts: f"({' '.join(parts)})"
        ),
        inner.map(lambda part: f"-{part}"),
        inner.map(lambda part: f"abs({part})"),
        inner.map(lambda part: f"({part})**2"),
    ),
    max_leaves=8,
)


@given(safe_expressions)
def test_it_agrees_with_python_on_every_safe_expression(expression: str) -> None:
    try:
        expected = eval(expression)
    except ZeroDivisionError:
        with pytest.raises(ToolFailed, match="division by zero"):
            calculate(expression)
        return

    assert calculate(expression) == expected
    assert type(calculate(expression)) is type(expected)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2**100", 2**100),
        ("round(2.675, 1)", 2.7),
        ("sqrt(16) + max(1, 2, 3)", 7.0),
        ("floor(-1.5)", -2),
        ("2 * pi", 2 * math.pi),
        (" 1 + 1 ", 2),
    ],
)
def test_known_values(expression: str, value: float) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "9**9999999999",
        "(10**3000) * (10**3000)",
        "1e308 * 10",
        "1e999",
        "round(5, 10**9)",
        "-" * 999 + "1",
        "exp(10000)",
    ],
)
def test_a_number_without_bound_is_refused_at_once(expression: str) -> None:
    with pytest.raises(ToolFailed):
        calculate(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os')",
        "().__class__",
        "'a' * 3",
        "True + 1",
        "1 if 1 else 2",
        "[1][0]",
        "x",
        "1 +",
        "(" * 500,
        "lambda: 1",
        "(-8) ** 0.5",
        "sqrt(-1)",
        "max(1)",
        "round(1.5, ndigits=1)",
        "1 << 3",
        "2j",
        "log(0)",
    ],
)
def test_what_is_not_arithmetic_is_refused(expression: str) -> None:
    with pytest.raises(ToolFailed) as refused:
        calculate(expression)

    assert refused.value.code == "invalid_arguments"


def test_a_model_reads_a_failure_as_a_coded_text(bench: Bench) -> None:
    assert bench.text("calculator", expression="6 * 7") == "42"
    assert bench.text("calculator", expression="1 / 0").startswith("[error/invalid_arguments] ")
