"""A manifest as it was written: its data, and the line and column of every key and value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agents.core.manifest.problems import Path, Problem

Scalar = str | int | float | bool | None


class Position(NamedTuple):
    """A place in the text; both numbers count from 1, in characters."""

    line: int
    column: int


START = Position(1, 1)


@dataclass(slots=True)
class Node:
    """One value of the text: a mapping has `fields`, a list has `items`, any other a `scalar`.

    `size` counts the value, its keys and everything below, each alias at its full expansion;
    `height` is how deep it goes.
    """

    at: Position
    scalar: Scalar = None
    fields: dict[str, Node] | None = None
    keys: dict[str, Position] = field(default_factory=dict)
    items: list[Node] | None = None
    size: int = 1
    height: int = 1

    def add(self, child: Node, key: str | None, key_at: Position) -> None:
        """Take in a finished child: under its key in a mapping, at the end of a list."""
        if self.fields is not None and key is not None:
            self.fields[key] = child
            self.keys[key] = key_at
            self.size += 1
        elif self.items is not None:
            self.items.append(child)
        self.size += child.size
        self.height = max(self.height, child.height + 1)

    def child(self, part: str | int) -> Node | None:
        """Return what stands under the key or index, or None."""
        if isinstance(part, str):
            return None if self.fields is None else self.fields.get(part)
        if self.items is None or not 0 <= part < len(self.items):
            return None
        return self.items[part]

    def plain(self) -> Any:
        """Return the value as fresh dicts, lists and scalars; an alias becomes a copy."""
        if self.fields is not None:
            return {key: child.plain() for key, child in self.fields.items()}
        if self.items is not None:
            return [child.plain() for child in self.items]
        return self.scalar


@dataclass(frozen=True, slots=True)
class Document:
    """One manifest document. Without `root` (it was not text) every place is 1:1."""

    data: dict[str, Any]
    file: str = "manifest"
    root: Node | None = None

    def position(self, path: Path) -> Position:
        """Return where the value at the path starts, or the nearest value above it."""
        node, at = self.root, START if self.root is None else self.root.at
        for part in path:
            node = None if node is None else node.child(part)
            if node is None:
                return at
            at = node.at
        return at

    def key_position(self, path: Path) -> Position:
        """Return where the last key of the path stands; an index has its value's position."""
        parent = self.root
        for part in path[:-1]:
            parent = None if parent is None else parent.child(part)
        last = path[-1] if path else None
        if parent is None or not isinstance(last, str) or last not in parent.keys:
            return self.position(path)
        return parent.keys[last]

    def problem(self, path: Path, message: str, *, at_key: bool = False) -> Problem:
        """Return a problem placed at the value of the path, or at its key."""
        line, column = self.key_position(path) if at_key else self.position(path)
        return Problem(path, line, column, message)

    def get(self, *path: str | int) -> Any:
        """Return the data at the path, or None; a wrong shape on the way is None too."""
        value: Any = self.data
        for part in path:
            if isinstance(value, dict) and isinstance(part, str):
                value = value.get(part)
            elif isinstance(value, list) and isinstance(part, int) and part < len(value):
                value = value[part]
            else:
                return None
        return value
