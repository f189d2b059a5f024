"""The source tree as the house rules see it: each rule is a function of a root folder."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("agents", "approvals", "felix_web", "sandboxes", "sessions")
CORES = ("agents.core", "approvals.core", "felix_web.common", "sandboxes.core", "sessions.core")


def product_files(root: Path, pattern: str = "*.py") -> Iterator[Path]:
    """Yield the product's files, without migrations."""
    for package in PACKAGES:
        for path in sorted((root / package).rglob(pattern)):
            if "migrations" not in path.parts:
                yield path


def named(root: Path, path: Path) -> str:
    """Return the path as rules and findings spell it."""
    return path.relative_to(root).as_posix()


def parsed(path: Path) -> ast.Module:
    """Return the file's syntax tree."""
    return ast.parse(path.read_text("utf-8"), filename=str(path))


def classes(tree: ast.AST) -> Iterator[ast.ClassDef]:
    """Yield every class of the tree."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def last_name(node: ast.AST) -> str:
    """Return the last part of a dotted name, or "" for anything else."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def dotted(node: ast.AST) -> str:
    """Return a dotted name such as `os.fork`, or "" for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            return f"{before}.{attr}" if (before := dotted(value)) else ""
        case _:
            return ""


def repository_files(root: Path) -> list[Path]:
    """Return the files that git has or would take."""
    command = [
        "git",
        "-C",
        str(root),
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [path for name in listed.split("\0") if name and (path := root / name).is_file()]


def write(root: Path, name: str, text: str) -> Path:
    """Write one file of a small tree for testing a rule."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path
