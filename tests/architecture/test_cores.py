"""A core is plain Python: importing it loads no framework."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import CORES, ROOT, write

FRAMEWORKS = ("django", "channels", "celery", "kombu", "ninja", "redis", "psycopg")
IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    importlib.import_module(module.name)
print(*sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[2:])))
"""


def frameworks_loaded(root: Path, package: str) -> str:
    command = [sys.executable, "-c", IMPORT_ALL, package, *FRAMEWORKS]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else done.stderr


@pytest.mark.parametrize("package", CORES)
def test_importing_every_module_of_a_core_loads_no_framework(package):
    assert frameworks_loaded(ROOT, package) == ""


def test_a_core_that_imports_django_is_found(tmp_path):
    write(tmp_path, "agents/core/deep/models.py", "import django.db.models\n")
    write(tmp_path, "agents/core/deep/__init__.py", "")

    assert "django" in frameworks_loaded(tmp_path, "agents.core")
