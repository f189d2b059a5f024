"""Every error can be told from every other, by people and by programs."""

import ast
import builtins
from pathlib import Path

from tests.architecture.tree import ROOT, classes, last_name, named, parsed, product_files, write

BUILT_IN = {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}


def exception_classes(root: Path) -> dict[str, tuple[str, ast.ClassDef]]:
    """Return "file: class" -> (name, definition) of every exception, told by its bases."""
    defined = [
        (f"{named(root, path)}: {node.name}", node)
        for path in product_files(root)
        for node in classes(parsed(path))
    ]
    family = set(BUILT_IN)
    while (
        grown := {
            node.name for _, node in defined if {last_name(base) for base in node.bases} & family
        }
        - family
    ):
        family |= grown
    return {where: (node.name, node) for where, node in defined if node.name in family - BUILT_IN}


def own_code(node: ast.ClassDef) -> str | None:
    for line in node.body:
        target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
        if last_name(target) == "code" and isinstance(getattr(line, "value", None), ast.Constant):
            return str(line.value.value)
    return None


def unnamed_errors(root: Path) -> list[str]:
    """Return the exceptions without a docstring or a code; private ones need no code."""
    found = exception_classes(root).items()
    silent = [
        f"{where} has no docstring" for where, (_, node) in found if not ast.get_docstring(node)
    ]
    nameless = [
        f"{where} has no code"
        for where, (name, node) in found
        if own_code(node) is None and not name.startswith("_")
    ]
    return silent + nameless


def shared_codes(root: Path) -> list[str]:
    seen: dict[str, str] = {}
    shared = []
    for where, (_, node) in exception_classes(root).items():
        code = own_code(node)
        if code is not None and seen.setdefault(code, where) != where:
            shared.append(f"{where} and {seen[code]}: {code}")
    return shared


def test_every_exception_class_has_a_docstring_and_a_code():
    assert unnamed_errors(ROOT) == []


def test_no_two_exception_classes_share_a_code():
    assert shared_codes(ROOT) == []


def test_nameless_and_clashing_errors_are_found(tmp_path):
    write(
        tmp_path,
        "agents/core/errors.py",
        "class A(FelixError):\n    code = 'a'\nclass B(A):\n    '''Doc.'''\n"
        "class C(B):\n    '''Doc.'''\n    code: ClassVar[str] = 'a'\n",
    )
    write(
        tmp_path,
        "felix_web/common/errors.py",
        "class FelixError(Exception):\n    '''D.'''\n    code = 'r'\n",
    )

    assert unnamed_errors(tmp_path) == [
        "agents/core/errors.py: A has no docstring",
        "agents/core/errors.py: B has no code",
    ]
    assert shared_codes(tmp_path) == ["agents/core/errors.py: C and agents/core/errors.py: A: a"]
