"""Writes requirements.lock and requirements-dev.lock from what .venv holds.

Run it after a dependency of pyproject.toml was changed and installed: .venv/bin/python .ci/lock.py
"""

from __future__ import annotations

import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent


def closure(lines: list[str]) -> dict[str, str]:
    """Return every package that the requirement lines lead to, with its installed version."""
    pins: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(Requirement(line), "") for line in lines]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for wanted in ("", *requirement.extras):
            if (name, wanted) not in seen:
                seen.add((name, wanted))
                found = distribution(name)
                pins[name] = found.version
                waiting += [(Requirement(line), wanted) for line in found.requires or []]
    return pins


def main() -> None:
    """Write both files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    runtime = project["dependencies"]
    development = runtime + project["optional-dependencies"]["dev"]
    for name, lines in (("requirements.lock", runtime), ("requirements-dev.lock", development)):
        pins = "".join(f"{name}=={version}\n" for name, version in sorted(closure(lines).items()))
        (ROOT / name).write_text(f"# Written by .ci/lock.py from pyproject.toml.\n{pins}", "utf-8")


if __name__ == "__main__":
    main()
