"""Puts the fragments of tool calls together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from agents.core.providers.arguments import parse_arguments
from agents.core.providers.base import ToolCall
from agents.core.providers.clean import clean_text
from felix_web.common.ids import new_id

MAX_ID_LENGTH = 128


@dataclass(slots=True)
class _Draft:
    call_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class CallCollector:
    """Collects calls by index; a server that gives every call the index 0 is told by their ids.

    Args:
        known: Names of the declared tools: they tell a repeated name from the second half of one.
        taken: Call ids that the conversation already holds. One that repeats is minted anew, so
            that a result can never answer the wrong call.
    """

    def __init__(self, known: Collection[str], taken: Collection[str]) -> None:
        self._known = known
        self._taken = set(taken)
        self._drafts: list[_Draft] = []
        self._by_index: dict[int, _Draft] = {}

    def __bool__(self) -> bool:
        return bool(self._drafts)

    def feed(self, fragment: dict[str, Any]) -> None:
        """Take one entry of `delta.tool_calls`."""
        function = fragment.get("function")
        function = function if isinstance(function, dict) else {}
        call_id, name, piece = fragment.get("id"), function.get("name"), function.get("arguments")
        draft = self._draft(fragment.get("index"), call_id if isinstance(call_id, str) else "")
        if isinstance(name, str):
            draft.name = self._joined(draft.name, name)
        if isinstance(piece, str):
            draft.arguments.append(piece)

    def _draft(self, index: Any, call_id: str) -> _Draft:
        if not isinstance(index, int):
            index = len(self._drafts) - 1 if self._drafts else 0
        draft = self._by_index.get(index)
        if draft is None or (call_id and draft.call_id and call_id != draft.call_id):
            draft = self._by_index[index] = _Draft()
            self._drafts.append(draft)
        draft.call_id = draft.call_id or call_id
        return draft

    def _joined(self, have: str, piece: str) -> str:
        joined = have + piece
        is_repeat = have == piece and have in self._known
        if is_repeat and not any(name.startswith(joined) for name in self._known):
            return have
        return joined

    def finish(self, *, is_cut: bool) -> tuple[ToolCall, ...]:
        """Return the calls in the order they began."""
        return tuple(self._finished(draft, is_cut) for draft in self._drafts)

    def _finished(self, draft: _Draft, is_cut: bool) -> ToolCall:
        arguments = parse_arguments("".join(draft.arguments), is_cut=is_cut)
        call_id = self._own_id(draft.call_id)
        return ToolCall(call_id, clean_text(draft.name), arguments.value, arguments.error)

    def _own_id(self, call_id: str) -> str:
        is_usable = call_id.isascii() and call_id.isprintable() and len(call_id) <= MAX_ID_LENGTH
        if not call_id or not is_usable or call_id in self._taken:
            call_id = new_id("call")
        self._taken.add(call_id)
        return call_id
