"""Files and functions stay short enough to be read at one sitting."""

import ast
from pathlib import Path

from tests.architecture.tree import ROOT, named, parsed, product_files, write

LONGEST_FILE = 600
LONGEST_FUNCTION = 60
SHOWPIECES = ("agents/core/loop.py", "agents/core/driver.py")
LONGEST_SHOWPIECES = 249


def lines_of(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def function_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the length without the docstring; prose is not what makes a function long."""
    total = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        total -= (first.end_lineno or first.lineno) - first.lineno + 1
    return total


def long_files(root: Path) -> list[str]:
    paths = [*product_files(root), *sorted((root / "tests").rglob("*.py"))]
    return [named(root, path) for path in paths if lines_of(path) > LONGEST_FILE]


def long_functions(root: Path) -> list[str]:
    return [
        f"{named(root, path)}: {node.name}"
        for path in [*product_files(root), *sorted((root / "tests").rglob("*.py"))]
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and function_lines(node) > LONGEST_FUNCTION
    ]


def showpiece_lines(root: Path) -> int:
    return sum(lines_of(root / name) for name in SHOWPIECES if (root / name).exists())


def test_no_file_is_longer_than_600_lines():
    assert long_files(ROOT) == []


def test_no_function_is_longer_than_60_lines():
    assert long_functions(ROOT) == []


def test_the_loop_and_the_driver_stay_under_250_lines_together():
    assert showpiece_lines(ROOT) <= LONGEST_SHOWPIECES


def test_a_long_file_and_a_long_function_are_found(tmp_path):
    write(tmp_path, "agents/long.py", "x = 1\n" * 601)
    write(tmp_path, "agents/migrations/long.py", "x = 1\n" * 601)
    write(tmp_path, "tests/wide.py", "def f():\n" + "    x = 1\n" * 60)
    write(tmp_path, "tests/prose.py", 'def g():\n    """' + "word\n" * 90 + '"""\n    return 1\n')

    assert long_files(tmp_path) == ["agents/long.py"]
    assert long_functions(tmp_path) == ["tests/wide.py: f"]


def test_a_loop_and_a_driver_that_grow_are_found(tmp_path):
    for name in SHOWPIECES:
        write(tmp_path, name, "x = 1\n" * 125)

    assert showpiece_lines(tmp_path) > LONGEST_SHOWPIECES
