"""Every variable that is read is in the table, and the table is in README.md."""

import ast
import re
from pathlib import Path

from felix_web.variables import KNOWN, markdown_table
from tests.architecture.tree import ROOT, named, parsed, product_files, write

NAME = re.compile(r"FELIX_[A-Z0-9_]*[A-Z0-9]")
OTHER_PLACES = ("Makefile", "compose.yaml", "docker-compose.yml", "Dockerfile", "deploy", ".ci")


def mentioned(root: Path) -> dict[str, str]:
    """Return variable -> a file that names it, in the code or in what deploys it."""
    found = {}
    for path in product_files(root):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= dict.fromkeys(NAME.findall(node.value), named(root, path))
    for place in OTHER_PLACES:
        for path in [root / place, *(root / place).rglob("*")]:
            if path.is_file() and path.suffix != ".pyc":
                found |= dict.fromkeys(NAME.findall(path.read_text("utf-8")), named(root, path))
    return found


def undocumented(root: Path) -> dict[str, str]:
    twins = {f"{name}_FILE" for name, variable in KNOWN.items() if variable.has_twin}
    return {
        name: path for name, path in mentioned(root).items() if name not in KNOWN.keys() | twins
    }


def test_every_variable_that_is_named_anywhere_is_in_the_table():
    assert undocumented(ROOT) == {}


def test_readme_holds_the_table_as_it_is_today():
    assert markdown_table() in (ROOT / "README.md").read_text("utf-8"), "run make docs"


def test_an_unknown_variable_is_found(tmp_path):
    write(tmp_path, "agents/a.py", "os.environ['FELIX_PROT']\n")
    write(tmp_path, "deploy/unit.service", "Environment=FELIX_BNID=::1 FELIX_SECRET_KEY_FILE=/k\n")

    assert undocumented(tmp_path) == {
        "FELIX_PROT": "agents/a.py",
        "FELIX_BNID": "deploy/unit.service",
    }
