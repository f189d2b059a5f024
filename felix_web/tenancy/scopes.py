"""The scopes that a key can have, by name."""

from __future__ import annotations

from collections.abc import Iterable

from felix_web.common.errors import InvalidInput
from felix_web.common.nearest import nearest

READ_AND_WRITE = (
    "approvals",
    "documents",
    "eval",
    "files",
    "jobs",
    "manifests",
    "memory",
    "plans",
    "skills",
)
SCOPES = frozenset(
    {"*", "admin", "artifacts:read", "audit:read", "github:admin", "usage:read"}
    | {f"{area}:{act}" for area in READ_AND_WRITE for act in ("read", "write")}
)


def known_scopes(given: Iterable[str]) -> list[str]:
    """Return the scopes trimmed, each once and in order; empty ones are left out.

    Raises:
        InvalidInput: one is no scope; the message names the nearest, or all of them.
    """
    wanted = sorted({scope.strip() for scope in given} - {""})
    for scope in wanted:
        if scope not in SCOPES:
            meant = nearest(scope, SCOPES)
            help_ = f"did you mean {meant}?" if meant else f"scopes: {', '.join(sorted(SCOPES))}."
            raise InvalidInput(f"There is no scope {scope!r}; {help_}")
    return wanted
