"""Grows the tree of a manifest from parser events, within bounds.

The tree is built from the events of libyaml's parser, one by one, so that a bound holds before
anything is built: a recursive composer would follow a hundred thousand brackets, and aliases of
aliases, into the ground.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import yaml

from agents.core.manifest.document import START, Node, Position
from agents.core.manifest.problems import shown
from agents.core.manifest.scalars import BadScalar, meaning

MAX_DEPTH = 32
MAX_NODES = 20_000
MAX_ALIASES = 64
TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"


class Mark(Protocol):
    """A parser's place; both numbers count from 0."""

    @property
    def line(self) -> int:
        """The line."""

    @property
    def column(self) -> int:
        """The column, in characters."""


def place_of_mark(mark: Mark | None) -> Position:
    """Return where a parser's mark stands; no mark means the start."""
    return START if mark is None else Position(mark.line + 1, mark.column + 1)


class Refused(Exception):
    """The text breaks a rule at a place; the reader makes a problem of it."""

    code = "text_refused"

    def __init__(self, at: Position, message: str) -> None:
        self.at = at
        self.message = message
        super().__init__(message)


@dataclass(slots=True)
class _Open:
    """A mapping or list whose end has not come; `key` waits for its value."""

    node: Node
    anchor: str | None
    key: str | None = None
    key_at: Position = START

    @property
    def wants_key(self) -> bool:
        return self.node.fields is not None and self.key is None


class TreeBuilder:
    """Takes parser events in order and grows one tree; the first that breaks a bound is refused."""

    def __init__(self) -> None:
        self.stack: list[_Open] = []
        self.anchors: dict[str, Node] = {}
        self.root: Node | None = None
        self.nodes = 0
        self.aliases = 0
        self.documents = 0

    def take(self, event: yaml.Event) -> None:
        """Take in one event.

        Raises:
            Refused: it breaks a rule or a bound; the tree is of no use any more.
        """
        at = place_of_mark(event.start_mark)
        if isinstance(event, yaml.DocumentStartEvent):
            self._document(at)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event, at)
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event, at)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event, at)
        elif isinstance(event, yaml.CollectionEndEvent):
            done = self.stack.pop()
            self._place_node(done.node, done.anchor)

    def finished(self) -> Node:
        """Return the mapping that the text is.

        Raises:
            Refused: the text is empty, or something else than a mapping.
        """
        if self.root is None:
            raise Refused(START, "the manifest is empty")
        if self.root.fields is None:
            message = "a manifest is a mapping with apiVersion, kind, metadata and spec"
            raise Refused(self.root.at, message)
        return self.root

    def _document(self, at: Position) -> None:
        self.documents += 1
        if self.documents > 1:
            raise Refused(at, "a file holds one manifest; a second document starts here")

    def _count(self, at: Position, nodes: int, height: int) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            raise Refused(at, f"more than {MAX_NODES:,} values, aliases counted in full")
        if len(self.stack) + height > MAX_DEPTH:
            raise Refused(at, TOO_DEEP)

    def _alias(self, event: yaml.AliasEvent, at: Position) -> None:
        name = str(event.anchor)
        if self.stack and self.stack[-1].wants_key:
            raise Refused(at, "a key must be plain text, not an alias")
        if any(name == open_.anchor for open_ in self.stack):
            raise Refused(at, f"the alias {shown(name)} stands inside what it refers to")
        if name not in self.anchors:
            raise Refused(at, f"the alias {shown(name)} refers to nothing above it")
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            raise Refused(at, f"more than {MAX_ALIASES} aliases")
        node = self.anchors[name]
        self._count(at, node.size, node.height)
        self._place_node(node, None)

    def _scalar(self, event: yaml.ScalarEvent, at: Position) -> None:
        self._no_tag(event.tag, at)
        self._count(at, 1, 1)
        try:
            value = meaning(event.value, is_plain=event.implicit[0])
        except BadScalar as error:
            raise Refused(at, str(error)) from None
        if self.stack and self.stack[-1].wants_key:
            self._key(self.stack[-1], value, at)
            if event.anchor is not None:
                self.anchors[event.anchor] = Node(at, value)
            return
        self._place_node(Node(at, value), event.anchor)

    def _key(self, parent: _Open, value: object, at: Position) -> None:
        if not isinstance(value, str):
            raise Refused(at, "a key must be text; put quotes around it")
        if value == "<<":
            raise Refused(at, "merge keys (<<) are not supported; write the fields out")
        if value in parent.node.keys:
            first = parent.node.keys[value]
            message = f"the key {shown(value)} is given twice; first on line {first.line}"
            raise Refused(at, message)
        parent.key, parent.key_at = value, at

    def _open(self, event: yaml.CollectionStartEvent, at: Position) -> None:
        self._no_tag(event.tag, at)
        if self.stack and self.stack[-1].wants_key:
            raise Refused(at, "a key must be plain text, not a list or a mapping")
        self._count(at, 1, 1)
        if isinstance(event, yaml.MappingStartEvent):
            self.stack.append(_Open(Node(at, fields={}), event.anchor))
        else:
            self.stack.append(_Open(Node(at, items=[]), event.anchor))

    def _no_tag(self, tag: str | None, at: Position) -> None:
        if tag is not None:
            raise Refused(at, "tags (!...) are not allowed in a manifest")

    def _place_node(self, node: Node, anchor: str | None) -> None:
        if anchor is not None:
            self.anchors[anchor] = node
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        parent.node.add(node, parent.key, parent.key_at)
        parent.key = None
