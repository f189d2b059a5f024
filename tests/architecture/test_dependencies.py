"""What is installed is known by name and version, and takes no name of ours."""

import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.architecture.tree import PACKAGES, ROOT, write

DENIED = {
    "openai-agents": "it installs a package called agents",
    "agents": "it installs a package called agents",
    "django-celery-beat": "a static schedule does",
    "django-eventstream": "the hub does",
    "respx": "it patches httpx, which openai no longer uses",
    "pytest-httpx": "it patches httpx, which openai no longer uses",
    "pytest-xdist": "two cores, one database",
}
LOCKS = ("requirements.lock", "requirements-dev.lock")
PIN = re.compile(r"([a-z0-9][a-z0-9.-]*)==([0-9][0-9a-z.+!]*)")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(root: Path, lock: str) -> dict[str, str]:
    """Return name -> version of a lock.

    Raises:
        ValueError: a line is something else, such as a path or an address.
    """
    found = {}
    for line in (root / lock).read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        pin = PIN.fullmatch(line)
        if pin is None:
            raise ValueError(f"{lock}: {line}")
        found[canonical(pin[1])] = pin[2]
    return found


def declared(root: Path, *extras: str) -> dict[str, str]:
    """Return name -> version of pyproject.toml's own requirements; "" where one is not pinned."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    lines = list(project["dependencies"])
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    found = {}
    for line in lines:
        name, _, version = line.partition("==")
        found[canonical(name.partition("[")[0])] = version
    return found


@pytest.mark.parametrize("lock", LOCKS)
def test_no_denied_package_is_locked(lock):
    assert pins(ROOT, lock).keys() & DENIED.keys() == set()


@pytest.mark.parametrize(("lock", "extras"), [(LOCKS[0], ()), (LOCKS[1], ("dev",))])
def test_what_is_declared_is_locked_at_the_same_version(lock, extras):
    assert declared(ROOT, *extras).items() <= pins(ROOT, lock).items()


def test_development_runs_on_the_versions_that_are_deployed():
    assert pins(ROOT, LOCKS[0]).items() <= pins(ROOT, LOCKS[1]).items()


def test_no_installed_package_takes_a_name_of_ours():
    owners = packages_distributions()

    taken = {name: set(owners.get(name, [])) - {"felix"} for name in PACKAGES}

    assert {name: packages for name, packages in taken.items() if packages} == {}


def test_a_path_or_an_address_in_a_lock_is_refused(tmp_path):
    write(tmp_path, "requirements.lock", "# pins\ndjango==5.2\nfelix @ file:///home/ana/felix\n")

    with pytest.raises(ValueError, match="file:///home"):
        pins(tmp_path, "requirements.lock")
