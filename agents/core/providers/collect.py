"""Puts the chunks of one streamed answer together."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from agents.core.providers.base import (
    AssistantTurn,
    Completed,
    ProviderError,
    StreamItem,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from agents.core.providers.clean import TextJoiner
from agents.core.providers.collect_calls import CallCollector
from agents.core.providers.collect_thinking import ThinkingCollector
from sessions.core.states import StopReason

_REASONS = {
    "stop": StopReason.END_TURN,
    "tool_calls": StopReason.TOOL_USE,
    "function_call": StopReason.TOOL_USE,
    "length": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSAL,
}
_CUT = frozenset({StopReason.MAX_TOKENS, StopReason.REFUSAL})


def _text(content: Any) -> str:
    """Return the text of a delta's content: a text, or a list of parts as some servers send it."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _count(container: Any, key: str) -> int | None:
    value = container.get(key) if isinstance(container, dict) else None
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count else None


def usage_of(report: Any) -> Usage:
    """Return the tokens of a usage report; cached ones are not counted as input a second time."""
    prompt, output = _count(report, "prompt_tokens"), _count(report, "completion_tokens")
    details = report.get("prompt_tokens_details") if isinstance(report, dict) else None
    read = min(_count(details, "cached_tokens") or 0, prompt or 0)
    write = min(_count(details, "cache_write_tokens") or 0, (prompt or 0) - read)
    return Usage(
        input=(prompt or 0) - read - write,
        output=output or 0,
        cache_read=read,
        cache_write=write,
        certain=prompt is not None and output is not None,
    )


class AnswerCollector:
    """Takes the chunks of one answer in order. `is_whole` is True once only the usage can follow.

    Args:
        origin: Who answers; it is noted on every block of reasoning.
        known_tools: Names of the declared tools.
        taken_ids: Call ids of the conversation so far.
    """

    def __init__(
        self, origin: str, known_tools: Collection[str] = (), taken_ids: Collection[str] = ()
    ) -> None:
        self._text = TextJoiner()
        self._thinking = ThinkingCollector(origin)
        self._calls = CallCollector(known_tools, taken_ids)
        self._reason: str | None = None
        self._is_refused = False
        self._usage: Any = None

    @property
    def is_whole(self) -> bool:
        """True once the provider said why the answer ended."""
        return self._reason is not None

    @property
    def has_usage(self) -> bool:
        """True once the provider reported the tokens."""
        return self._usage is not None

    def feed(self, chunk: Any) -> Iterator[StreamItem]:
        """Take one chunk and yield what can be shown of it."""
        if not isinstance(chunk, dict):
            return
        self._usage = chunk.get("usage") or self._usage
        choices = chunk.get("choices")
        for choice in choices[:1] if isinstance(choices, list) else ():
            if isinstance(choice, dict):
                yield from self._feed_choice(choice)

    def _feed_choice(self, choice: dict[str, Any]) -> Iterator[StreamItem]:
        delta = choice.get("delta")
        if isinstance(delta, dict):
            if thought := self._thinking.feed(delta):
                yield ThinkingDelta(thought)
            if text := self._text.feed(self._visible(delta)):
                yield TextDelta(text)
            self._feed_calls(delta)
        reason = choice.get("finish_reason")
        self._reason = reason if isinstance(reason, str) and reason else self._reason

    def _visible(self, delta: dict[str, Any]) -> str:
        refusal = _text(delta.get("refusal"))
        self._is_refused = self._is_refused or bool(refusal)
        return _text(delta.get("content")) + refusal

    def _feed_calls(self, delta: dict[str, Any]) -> None:
        fragments = delta.get("tool_calls")
        for fragment in fragments if isinstance(fragments, list) else ():
            if isinstance(fragment, dict):
                self._calls.feed(fragment)
        if isinstance(delta.get("function_call"), dict):
            self._calls.feed({"index": 0, "function": delta["function_call"]})

    def finish(self) -> Iterator[StreamItem]:
        """Yield the last held back text, then the whole answer.

        Raises:
            ProviderError: retryable; the answer broke off, or it is empty.
        """
        if self._reason is None or self._reason == "error":
            raise ProviderError("The model's answer broke off.", retryable=True)
        reason = self._stop_reason()
        if rest := self._text.finish():
            yield TextDelta(rest)
        is_cut = reason in _CUT
        if not self._text.text and not self._calls and not is_cut:
            raise ProviderError("The model gave an empty answer.", retryable=True)
        calls = self._calls.finish(is_cut=is_cut)
        turn = AssistantTurn(self._text.text, self._thinking.finish(), calls)
        yield Completed(turn, reason, usage_of(self._usage))

    def _stop_reason(self) -> StopReason:
        reason = _REASONS.get(self._reason or "", StopReason.UNKNOWN)
        if reason in _CUT:
            return reason
        if self._calls:
            return StopReason.TOOL_USE
        if self._is_refused:
            return StopReason.REFUSAL
        return StopReason.END_TURN if reason is StopReason.TOOL_USE else reason
