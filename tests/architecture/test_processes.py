"""A process is started in the few places that may, and nowhere else."""

import ast
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, dotted, named, parsed, product_files, write

MAY_START_PROCESSES = ("felix_web/embedded/",)
MODULES = {"subprocess", "multiprocessing", "pty"}
CALLS = ("os.exec", "os.fork", "os.popen", "os.posix_spawn", "os.spawn", "os.system")
NAMES = {
    "Popen",
    "ProcessPoolExecutor",
    "create_subprocess_exec",
    "create_subprocess_shell",
    "subprocess_exec",
    "subprocess_shell",
}


def process_starts(root: Path) -> list[str]:
    return [
        f"{named(root, path)}:{node.lineno}"
        for path in product_files(root)
        if not named(root, path).startswith(MAY_START_PROCESSES)
        for node in ast.walk(parsed(path))
        if _starts_process(node)
    ]


def _starts_process(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(alias.name.partition(".")[0] in MODULES for alias in names)
        case ast.ImportFrom(module=str(module), names=names):
            spelled = {f"{module}.{alias.name}" for alias in names}
            return (
                module.partition(".")[0] in MODULES
                or any(name.startswith(CALLS) for name in spelled)
                or bool({alias.name for alias in names} & NAMES)
            )
        case ast.Attribute(attr=attr):
            return attr in NAMES or dotted(node).startswith(CALLS)
        case _:
            return False


def test_processes_are_started_only_where_the_list_says():
    assert process_starts(ROOT) == []


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess\n",
        "import multiprocessing.pool\n",
        "from subprocess import run\n",
        "from os import fork\n",
        "import os\nos.execv('a', [])\n",
        "import asyncio\nasyncio.create_subprocess_exec('a')\n",
        "from concurrent.futures import ProcessPoolExecutor\n",
    ],
)
def test_a_process_started_elsewhere_is_found(tmp_path, code):
    write(tmp_path, "agents/core/tools/shell.py", code)
    write(tmp_path, "felix_web/embedded/launch.py", code)

    assert len(process_starts(tmp_path)) == 1
