"""Puts the fragments of reasoning together: signed blocks to go back, plain text to show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agents.core.providers.base import Thinking
from agents.core.providers.clean import REPLACEMENT, TextJoiner, clean_json, clean_text
from agents.core.providers.messages import ENCRYPTED

_TEXT_KEYS = ("text", "summary")


@dataclass(slots=True)
class _Block:
    text: list[str] = field(default_factory=list)
    signature: str = ""
    data: dict[str, Any] = field(default_factory=dict)


def _added(have: str, piece: Any) -> str:
    """Return the signature with a further piece; a server that repeats it whole changes nothing."""
    return have if not isinstance(piece, str) or piece == have else have + piece


class ThinkingCollector:
    """Collects the reasoning of one answer that `origin` gives."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._shown = TextJoiner()
        self._plain = TextJoiner()
        self._blocks: list[_Block] = []
        self._by_key: dict[tuple[Any, Any], _Block] = {}

    def feed(self, delta: dict[str, Any]) -> str:
        """Take the reasoning of one delta and return what of it can be read."""
        details = delta.get("reasoning_details")
        entries = details if isinstance(details, list) else []
        readable = "".join(self._feed_entry(e) for e in entries if isinstance(e, dict))
        if readable or entries:
            # `reasoning` beside the entries is the same text once more.
            return self._shown.feed(readable)
        for key in ("reasoning_content", "reasoning"):
            text = delta.get(key)
            if isinstance(text, str) and text:
                return self._plain.feed(text)
        return ""

    def _feed_entry(self, entry: dict[str, Any]) -> str:
        kind = entry.get("type")
        block = self._block((entry.get("index"), kind))
        hidden = "data" if kind == ENCRYPTED else "signature"
        block.signature = _added(block.signature, entry.get(hidden))
        readable = ""
        for key, value in entry.items():
            if key in _TEXT_KEYS and kind != ENCRYPTED:
                readable += value if isinstance(value, str) else ""
            elif key != hidden and value is not None:
                block.data[key] = value
        block.text.append(readable)
        return readable

    def _block(self, key: tuple[Any, Any]) -> _Block:
        block = self._by_key.get(key)
        # Without an index a signature is what ends a block.
        if block is None or (key[0] is None and block.signature):
            block = self._by_key[key] = _Block()
            self._blocks.append(block)
        return block

    def finish(self) -> tuple[Thinking, ...]:
        """Return the blocks in the order they began, plain reasoning first and unsigned."""
        self._plain.finish()
        plain = [Thinking(self._plain.text, origin=self._origin)] if self._plain.text else []
        return (*plain, *(self._finished(block) for block in self._blocks))

    def _finished(self, block: _Block) -> Thinking:
        text = "".join(block.text)
        clean, data = clean_text(text), clean_json(block.data)
        # Changed content no longer matches its signature: better no block than a refused request.
        is_same = clean.count(REPLACEMENT) == text.count(REPLACEMENT) and data == block.data
        signature = block.signature if is_same and block.signature.isprintable() else ""
        return Thinking(clean, signature, self._origin, data)
