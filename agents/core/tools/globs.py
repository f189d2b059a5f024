"""Glob patterns over relative paths: `**`, `*`, `?`, `[...]` and `{a,b}`, in linear time."""

from __future__ import annotations

from itertools import pairwise

from agents.core.tools.base import ToolFailed
from agents.core.tools.linear_regex import BadPattern, LinearRegex, quote
from agents.core.tools.text import clean

MAX_ALTERNATIVES = 64
MAX_SEGMENTS = 64

# Names that hold what others made: not gone into unless the caller names them.
EXCLUDED_NAMES = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".idea",
        ".vs",
        ".venv",
        ".tox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        "__pycache__",
        "bin",
        "dist",
        "node_modules",
        "obj",
        "target",
    }
)


_MAGIC = frozenset("*?[{\\")
_Segment = LinearRegex | None  # None is `**`


class Glob:
    """One pattern. `**` is any number of names (none too); `*` and `?` stop at a slash.

    A backslash takes the meaning from the next character. Names that begin with a dot are like any
    other. `literals` are the names that the pattern spells out.

    Raises:
        ToolFailed: `invalid_arguments`; it is absolute, holds `..`, or a bracket is not closed.
    """

    def __init__(self, pattern: str) -> None:
        self._ways = [_segments(way) for way in _expand(pattern)]
        self.literals = frozenset(
            part for way in _expand(pattern) for part in way.split("/") if not _MAGIC & set(part)
        )

    def matches(self, path: str) -> bool:
        """True where the pattern matches the whole path."""
        names = clean(path).split("/")
        return any(len(way) in _positions(way, names) for way in self._ways)

    def may_hold(self, directory: str) -> bool:
        """True where some path below the directory could match."""
        names = clean(directory).split("/")
        return any(any(at < len(way) for at in _positions(way, names)) for way in self._ways)


def _positions(way: list[_Segment], names: list[str]) -> set[int]:
    """Return how far into the pattern the names can have led: every possible place at once."""
    places = _skip_stars(way, {0})
    for name in names:
        following = set()
        for at in places:
            if at == len(way):
                continue
            segment = way[at]
            if segment is None:
                following.add(at)
            elif segment.matches(name):
                following.add(at + 1)
        places = _skip_stars(way, following)
    return places


def _skip_stars(way: list[_Segment], places: set[int]) -> set[int]:
    reached = set(places)
    for at in sorted(places):
        while at < len(way) and way[at] is None:
            at += 1
            reached.add(at)
    return reached


def _segments(pattern: str) -> list[_Segment]:
    if pattern.startswith("/"):
        raise _refused("it is absolute; name it relative to the workspace root")
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if not parts:
        raise _refused("it is empty")
    if ".." in parts:
        raise _refused('".." would leave the directory')
    if len(parts) > MAX_SEGMENTS:
        raise _refused(f"it has over {MAX_SEGMENTS} segments")
    return [None if part == "**" else _compiled(part) for part in parts]


def _compiled(part: str) -> LinearRegex:
    pieces = []
    at = 0
    while at < len(part):
        char = part[at]
        if char == "*":
            pieces.append(".*")
        elif char == "?":
            pieces.append(".")
        elif char == "[":
            end = _class_end(part, at)
            pieces.append(_class(part[at + 1 : end]))
            at = end
        elif char == "\\" and at + 1 < len(part):
            at += 1
            pieces.append(quote(part[at]))
        else:
            pieces.append(quote(char))
        at += 1
    try:
        return LinearRegex("".join(pieces), dot_all=True)
    except BadPattern:
        raise _refused(f'"{part}" is not a possible name pattern') from None


def _class_end(pattern: str, start: int) -> int:
    """Return where the class that opens at `start` closes; a `]` that comes first is a member."""
    first = start + 1
    if pattern[first : first + 1] in ("!", "^"):
        first += 1
    end = pattern.find("]", first + 1)
    if end < 0:
        raise _refused('a "[" is not closed')
    return end


def _class(body: str) -> str:
    sign = ""
    if body[0] in "!^":
        sign, body = "^", body[1:]
    members = "".join("\\" + char if char in "\\]^[" else char for char in body)
    return f"[{sign}{members}]"


def _expand(pattern: str) -> list[str]:
    """Return the patterns that the braces stand for."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        way = waiting.pop()
        braces = _first_braces(way)
        if braces is None:
            done.append(way)
        else:
            start, end, cuts = braces
            edges = [start, *cuts, end]
            inner = [way[a + 1 : b] for a, b in pairwise(edges)]
            waiting += [way[:start] + choice + way[end + 1 :] for choice in reversed(inner)]
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            raise _refused(f"its braces stand for over {MAX_ALTERNATIVES} patterns")
    return done


def _first_braces(pattern: str) -> tuple[int, int, list[int]] | None:
    """Return where the first outermost braces open and close, and the commas that divide them."""
    start, depth = -1, 0
    cuts: list[int] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "[":
            at = _class_end(pattern, at)
        elif char == "{":
            depth += 1
            start = at if depth == 1 else start
        elif char == "}" and depth:
            depth -= 1
            if depth == 0:
                return start, at, cuts
        elif char == "," and depth == 1:
            cuts.append(at)
        at += 1
    if depth:
        raise _refused('a "{" is not closed')
    return None


def _refused(why: str) -> ToolFailed:
    return ToolFailed("invalid_arguments", f"The glob pattern cannot be used: {why}.")
