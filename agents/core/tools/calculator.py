"""The tool `calculator`: arithmetic, and nothing else that Python could do."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable

from pydantic import Field

from agents.core.tools.base import Tool, ToolArgs, ToolContext, ToolFailed

Number = int | float

MAX_BITS = 10_000
MAX_DEPTH = 100
MAX_DIGITS = 100
CONSTANTS: dict[str, Number] = {"pi": math.pi, "e": math.e}


class CalculatorArgs(ToolArgs):
    """Arguments of `calculator`."""

    expression: str = Field(
        description="For example (2 + 3) * sqrt(16) / 7.", min_length=1, max_length=1000
    )


def calculate(expression: str) -> Number:
    """Return the value of an arithmetic expression; whole numbers are exact.

    Raises:
        ToolFailed: `invalid_arguments`, it is no such expression or has no value (a division by
            zero); `limit`, a number in it would be too large.
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _refused("this is not an arithmetic expression") from None
    try:
        return _value(tree.body, MAX_DEPTH)
    except ZeroDivisionError:
        raise _refused("division by zero") from None
    except OverflowError:
        raise _too_large() from None
    except ValueError:
        raise _refused("a function has no value there") from None


def _value(node: ast.expr, depth: int) -> Number:
    if depth == 0:
        raise ToolFailed("limit", "The expression is nested too deeply.")
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _bounded(value)
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, depth - 1)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, depth - 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            operate = OPERATORS[type(op)]
            return _bounded(operate(_value(left, depth - 1), _value(right, depth - 1)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return _bounded(_call(name, [_value(arg, depth - 1) for arg in args]))
    raise _refused(
        "only numbers, + - * / // % **, parentheses, pi, e and these functions are known: "
        + ", ".join(sorted(FUNCTIONS))
    )


def _call(name: str, values: list[Number]) -> Number:
    function, least, most = FUNCTIONS[name]
    if not least <= len(values) <= most:
        raise _refused(f"{name} takes another number of arguments")
    return function(*values)


def _bounded(value: Number) -> Number:
    if isinstance(value, complex):
        raise _refused("the result is not a real number")
    if isinstance(value, int):
        if value.bit_length() > MAX_BITS:
            raise _too_large()
    elif not math.isfinite(value):
        raise _too_large()
    return value


def _power(base: Number, exponent: Number) -> Number:
    # The size is known before the power is taken: 9**9**9 would never end.
    if isinstance(base, int) and isinstance(exponent, int):
        grows = base not in (0, 1, -1)
        if grows and base.bit_length() * abs(exponent) > 2 * MAX_BITS:
            raise _too_large()
    result: Number = base**exponent
    return result


def _rounded(value: Number, digits: Number = 0) -> Number:
    if not isinstance(digits, int) or abs(digits) > MAX_DIGITS:
        raise _refused(f"round takes whole digits up to {MAX_DIGITS}")
    return round(value, digits) if digits else round(value)


def _refused(why: str) -> ToolFailed:
    return ToolFailed("invalid_arguments", f"The expression cannot be calculated: {why}.")


def _too_large() -> ToolFailed:
    return ToolFailed("limit", "A number in the expression is too large.")


OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
# Each with the least and the greatest number of its arguments.
FUNCTIONS: dict[str, tuple[Callable[..., Number], int, int]] = {
    "abs": (abs, 1, 1),
    "ceil": (math.ceil, 1, 1),
    "cos": (math.cos, 1, 1),
    "exp": (math.exp, 1, 1),
    "floor": (math.floor, 1, 1),
    "log": (math.log, 1, 2),
    "log10": (math.log10, 1, 1),
    "log2": (math.log2, 1, 1),
    "max": (max, 2, 100),
    "min": (min, 2, 100),
    "round": (_rounded, 1, 2),
    "sin": (math.sin, 1, 1),
    "sqrt": (math.sqrt, 1, 1),
    "tan": (math.tan, 1, 1),
}


def _run(args: CalculatorArgs, ctx: ToolContext) -> str:
    return str(calculate(args.expression))


CALCULATOR = Tool(
    name="calculator",
    description=(
        "Calculate an arithmetic expression: + - * / // % **, parentheses, pi, e, and functions"
        " such as sqrt, round, min, max and log. Whole numbers are exact."
    ),
    args=CalculatorArgs,
    run=_run,
    read_only=True,
)
