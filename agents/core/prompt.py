"""The prompt of a run.

The provider's own JSON, grown event by event so that each request extends the one before (L11).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from agents.core.providers.base import (
    AssistantTurn,
    Provider,
    Thinking,
    ToolCall,
    ToolSpec,
    ToolTurn,
    Turn,
    UserTurn,
)
from agents.core.view import calls_of
from felix_web.common.digests import canonical_json
from sessions.core.calls import Call
from sessions.core.events import Event, EventKind
from sessions.core.states import CallStatus

UNANSWERED = (
    "[error/interrupted] No result was recorded for this call. Whether it took effect is unknown."
)


def assistant_turn(event: Event) -> AssistantTurn:
    """Return a logged answer as a turn, its reasoning with the signatures sealed beside it."""
    shown = event.payload.get("thinking", ())
    kept = (event.sealed or {}).get("thinking", ())
    thinking = tuple(
        Thinking(text=block.get("text", ""), **(kept[index] if index < len(kept) else {}))
        for index, block in enumerate(shown)
    )
    calls = tuple(
        ToolCall(call.call_id, call.tool, call.args, call.args_error) for call in calls_of(event)
    )
    return AssistantTurn(event.payload.get("content", ""), thinking, calls)


class Prompt:
    """The messages of one run's requests. `add` takes the branch's events in order.

    Results are listed in the model's order, whatever order they came in. A call that never got a
    result is given one, so that a provider is never sent an open call.
    """

    def __init__(self, provider: Provider, *, system: str, tools: Sequence[ToolSpec]) -> None:
        self._provider = provider
        self._messages: list[dict[str, Any]] = []
        self._open: dict[str, Call] = {}
        self._results: dict[str, ToolTurn] = {}
        shape = [[tool.name, tool.description, tool.parameters] for tool in tools]
        self._prefix = hashlib.sha256(canonical_json(shape).encode())
        self._take(provider.render_system(system))

    def add(self, event: Event) -> None:
        """The prompt includes the event, where it is one the model reads."""
        match event.kind:
            case EventKind.USER_MESSAGE:
                self._close()
                self._say(UserTurn(event.payload["content"]))
            case EventKind.ASSISTANT_MESSAGE:
                self._close()
                self._say(assistant_turn(event))
                self._open = {call.call_id: call for call in calls_of(event)}
            case EventKind.TOOL_RESULT:
                self._take_result(event)
            case _:
                pass

    def messages(self) -> list[dict[str, Any]]:
        """Return the messages of the next request.

        The list is the prompt's own and is not to be changed.
        """
        self._close()
        return self._messages

    def prefix_digest(self) -> str:
        """Return the digest of tools and messages so far."""
        return self._prefix.hexdigest()

    def _take_result(self, event: Event) -> None:
        call = self._open.get(event.call_id)
        if call is None or event.call_id in self._results:
            return
        failed = event.payload["status"] != CallStatus.DONE
        self._results[event.call_id] = ToolTurn(
            event.call_id, call.tool, event.payload["content"], failed
        )
        if len(self._results) == len(self._open):
            self._close()

    def _close(self) -> None:
        for call_id, call in self._open.items():
            self._say(self._results.get(call_id) or ToolTurn(call_id, call.tool, UNANSWERED, True))
        self._open, self._results = {}, {}

    def _say(self, turn: Turn) -> None:
        self._take(self._provider.render(turn))

    def _take(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            self._prefix.update(canonical_json(message).encode("utf-8", "surrogatepass"))
            self._messages.append(message)
