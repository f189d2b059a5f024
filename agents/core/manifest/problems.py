"""What is wrong with a manifest, and where: one line a problem, each with its place in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from felix_web.common.errors import FelixError

MAX_PROBLEMS = 50
MAX_SHOWN = 60

Path = tuple[str | int, ...]


def shown(value: object) -> str:
    """Return the value quoted for a message: at most 60 characters, nothing invisible in it."""
    text = value if isinstance(value, str) else str(value)
    return repr(text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…")


def dotted(path: Path) -> str:
    """Return the path as people write it: `spec.approvals[0].tools`; long keys are cut."""
    parts = [f"[{part}]" if isinstance(part, int) else "." + shown(part)[1:-1] for part in path]
    return "".join(parts).removeprefix(".")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. `line` and `column` count from 1, in characters."""

    path: Path
    line: int
    column: int
    message: str

    def as_json(self) -> dict[str, Any]:
        """Return the problem as an API answer lists it."""
        return {
            "path": dotted(self.path),
            "line": self.line,
            "column": self.column,
            "message": self.message,
        }


class ManifestInvalid(FelixError):
    """The manifest is not valid.

    `problems` holds at most 50, in the order of the file; `omitted` counts further ones that were
    found. `str()` is one line a problem: `FILE:LINE:COLUMN: what is wrong`.
    """

    code = "invalid_manifest"
    title = "Invalid manifest"
    hint = "Correct each place named and send the manifest again; nothing was stored."

    def __init__(self, problems: Sequence[Problem], *, file: str) -> None:
        ordered = sorted(problems, key=lambda problem: (problem.line, problem.column))
        self.file = file
        self.problems = ordered[:MAX_PROBLEMS]
        self.omitted = len(ordered) - len(self.problems)
        lines = [f"{file}:{p.line}:{p.column}: {p.message}" for p in self.problems]
        if self.omitted:
            lines.append(f"{file}: and at least {self.omitted} more")
        super().__init__(
            "\n".join(lines), file=file, problems=[problem.as_json() for problem in self.problems]
        )
