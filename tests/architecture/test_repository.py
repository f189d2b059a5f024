"""The repository is of no machine: it names no path and no host of the one it was written on."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, named, repository_files, write

# Spelled in pieces, so that this file does not hold what it looks for.
HOSTS = (
    "pypi" + ".org",
    "files.python" + "hosted.org",
    "registry.npm" + "js.org",
    "deb.debian" + ".org",
    "security.debian" + ".org",
    "proxy.go" + "lang.org",
)
PATHS = (
    "/work" + "/main",
    "/work" + "/shared",
    "/work" + "/.",
    ".." + "/shared",
    "/root" + "/",
    ".py" + "env/",
)
TRACES = re.compile("|".join(re.escape(text) for text in (*HOSTS, *PATHS)))
LONGEST_RECIPE = 3


def traces(root: Path, files: list[Path]) -> list[str]:
    found = []
    for path in files:
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{named(root, path)}: {match[0]}" for match in TRACES.finditer(text)]
    return found


def long_recipes(makefile: str) -> list[str]:
    blocks = re.findall(r"^([\w-]+):[^\n=]*\n((?:\t[^\n]*\n)+)", makefile, re.MULTILINE)
    return [name for name, lines in blocks if lines.count("\n") > LONGEST_RECIPE]


def test_no_file_names_a_path_of_a_machine_or_a_registry():
    assert traces(ROOT, repository_files(ROOT)) == []


def test_every_target_of_the_makefile_is_at_most_three_lines():
    assert long_recipes((ROOT / "Makefile").read_text("utf-8")) == []


@pytest.mark.parametrize("script", ["venv", "test", "check", "run", "lib.sh", "services.sh"])
def test_the_scripts_of_ci_are_well_formed(script):
    done = subprocess.run(["bash", "-n", str(ROOT / ".ci" / script)], check=False)

    assert done.returncode == 0


def test_traces_of_a_machine_are_found(tmp_path):
    path = write(tmp_path, "a.txt", f"see {HOSTS[0]} and {PATHS[0]}/x, not {'/work'}space\n")

    assert traces(tmp_path, [path]) == [f"a.txt: {HOSTS[0]}", f"a.txt: {PATHS[0]}"]


def test_a_long_recipe_is_found():
    assert long_recipes("a: ## x\n\t1\n\t2\n\nb:\n\t1\n\t2\n\t3\n\t4\n") == ["b"]
