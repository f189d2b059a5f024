"""What other code calls says what is true afterwards."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.tree import ROOT, dotted, named, parsed, product_files, write

DOCUMENTED = {"core", "common", "services", "selectors", "surfaces"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_documented_place(name: str) -> bool:
    return bool(DOCUMENTED & set(name.removesuffix(".py").split("/")))


def public_definitions(body: list[ast.stmt]) -> Iterator[ast.ClassDef | Function]:
    for node in body:
        if not isinstance(node, ast.ClassDef | Function) or node.name.startswith("_"):
            continue
        marks = {dotted(mark).rpartition(".")[2] for mark in node.decorator_list}
        if marks & {"overload", "override"} or node.name == "Meta":
            continue
        yield node
        if isinstance(node, ast.ClassDef):
            yield from public_definitions(node.body)


def undocumented(root: Path) -> list[str]:
    return [
        f"{named(root, path)}: {node.name}"
        for path in product_files(root)
        if is_documented_place(named(root, path))
        for node in public_definitions(parsed(path).body)
        if not ast.get_docstring(node)
    ]


def test_everything_public_in_cores_services_selectors_and_surfaces_has_a_docstring():
    assert undocumented(ROOT) == []


def test_public_definitions_without_a_docstring_are_found(tmp_path):
    write(tmp_path, "agents/core/a.py", "class A:\n    '''Doc.'''\n    def b(self): ...\n")
    write(tmp_path, "sessions/services.py", "def c(): ...\ndef _d(): ...\n")
    write(tmp_path, "agents/views/page.py", "def page(): ...\n")

    assert undocumented(tmp_path) == ["agents/core/a.py: b", "sessions/services.py: c"]
