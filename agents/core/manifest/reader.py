"""Reads manifest text: YAML, and JSON, which is YAML. Bounded in size, depth, nodes and aliases."""

from __future__ import annotations

import yaml

from agents.core.manifest.decode import Text, decode
from agents.core.manifest.document import Document, Node, Position
from agents.core.manifest.problems import ManifestInvalid, Problem
from agents.core.manifest.tree import TOO_DEEP, Refused, TreeBuilder, place_of_mark


def read_document(source: str | bytes, *, file: str = "manifest.yaml") -> Document:
    """Return the document of a manifest with the position of every key and value.

    It is data, not yet an agent: see `validate.checked_manifest`. Blocking work; keep it off an
    event loop.

    Args:
        file: What errors call the text; a name, not a path that is opened.

    Raises:
        ManifestInvalid: the text is too large, not UTF-8, not YAML, or uses YAML that a manifest
            may not (several documents, tags, merge keys, duplicate or non-text keys, infinities,
            too many aliases or levels).
    """
    text = decode(source, file=file)
    builder = TreeBuilder()
    try:
        for event in yaml.parse(text.body, Loader=yaml.CSafeLoader):
            builder.take(event)
        root = builder.finished()
    except Refused as refused:
        raise _invalid(refused.at, refused.message, text, file) from None
    except yaml.MarkedYAMLError as error:
        at = place_of_mark(error.problem_mark or error.context_mark)
        raise _invalid(at, _syntax_message(error, text.body, at), text, file) from None
    _restore_positions(root, text)
    return Document(root.plain(), file, root)


def _invalid(at: Position, message: str, text: Text, file: str) -> ManifestInvalid:
    line, column = text.original(at)
    return ManifestInvalid([Problem((), line, column, message)], file=file)


def _syntax_message(error: yaml.MarkedYAMLError, body: str, at: Position) -> str:
    lines = body.splitlines()
    line = lines[at.line - 1] if at.line <= len(lines) else ""
    indent = line[: len(line) - len(line.lstrip())]
    if "\t" in indent:
        return "a tab cannot indent YAML; use spaces"
    if "nesting depth" in (error.problem or ""):
        # The scanner runs ahead of the events and has a bound of its own, 1,000 levels.
        return TOO_DEEP
    return f"this is not valid YAML: {error.problem or 'it ends too early'}"


def _restore_positions(root: Node, text: Text) -> None:
    """Move every position of text that was shortened back to where the author wrote it."""
    if not text.shortened:
        return
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        node.at = text.original(node.at)
        node.keys = {key: text.original(at) for key, at in node.keys.items()}
        waiting.extend((node.fields or {}).values())
        waiting.extend(node.items or [])
