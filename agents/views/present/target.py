"""What a call is about, in one line: its path, command or address."""

from __future__ import annotations

from typing import Any

from felix_web.common.digests import canonical_json

TARGET_CHARS = 200
NAMES = (
    "path",
    "file",
    "file_path",
    "command",
    "cmd",
    "url",
    "query",
    "pattern",
    "name",
    "to",
    "topic",
)


def _one_line(text: str) -> str:
    first, _, rest = text.strip().partition("\n")
    line = f"{first} …" if rest.strip() else first
    return line if len(line) <= TARGET_CHARS else f"{line[: TARGET_CHARS - 1]}…"


def target(args: Any) -> str:
    """Return the argument that says what the call is about, at most 200 characters, or "".

    The text is the model's own: it is shown through the `visible` filter only.
    """
    if not isinstance(args, dict) or not args:
        return ""
    for name in NAMES:
        if isinstance(args.get(name), str) and args[name].strip():
            return _one_line(args[name])
    value = next(iter(args.values()))
    return _one_line(value if isinstance(value, str) else canonical_json(value))
