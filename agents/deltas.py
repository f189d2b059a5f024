"""Text on its way to readers while a model writes it.

Coalesced, with keyframes, best effort (decisions 2.4, 3.8).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

COALESCE_SECONDS = 0.05
KEYFRAME_SECONDS = 2.0
TEXT_END = "text_end"
"""A frame for hubs alone, never for a reader: the message is whole, or given up."""

Publish = Callable[[int, dict[str, Any]], None]


@dataclass(slots=True)
class _Stream:
    """One kind of text of one message: all of it, and how much of it was sent."""

    text: list[str] = field(default_factory=list)
    sent: int = 0
    pending: list[str] = field(default_factory=list)


class DeltaSink:
    """The TextSink of one run, used on the loop that drives it.

    The first piece goes out at once, the rest at most every 50 ms.

    A delta says at which character it begins; every 2 s it begins at 0 and holds the whole text so
    far (a keyframe), which heals a reader that came late.

    Args:
        thread_id: Where the frames are published.
        publish: Takes a thread and a frame, returns at once, never raises.
    """

    def __init__(self, *, thread_id: int, run_id: str, publish: Publish) -> None:
        self._thread_id = thread_id
        self._run_id = run_id
        self._publish = publish
        self._streams: dict[str, _Stream] = {}
        self._flushed_at = 0.0
        self._keyed_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, message_id: str) -> None:
        """See TextSink.begin."""
        self._cancel_timer()
        self._streams = {"text_delta": _Stream(), "thinking_delta": _Stream()}
        self._flushed_at, self._keyed_at = 0.0, time.monotonic()
        self._send({"type": "text_reset", "message_id": message_id})

    def text(self, message_id: str, more: str) -> None:
        """See TextSink.text."""
        self._add("text_delta", message_id, more)

    def thinking(self, message_id: str, more: str) -> None:
        """See TextSink.thinking."""
        self._add("thinking_delta", message_id, more)

    def end(self, message_id: str) -> None:
        """See TextSink.end."""
        self._cancel_timer()
        self._flush(message_id)
        self._send({"type": TEXT_END, "message_id": message_id})

    def _add(self, kind: str, message_id: str, more: str) -> None:
        if not more:
            return
        stream = self._streams[kind]
        stream.pending.append(more)
        stream.text.append(more)
        wait = self._flushed_at + COALESCE_SECONDS - time.monotonic()
        if wait <= 0:
            self._flush(message_id)
        elif self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(wait, self._on_time, message_id)

    def _on_time(self, message_id: str) -> None:
        self._timer = None
        self._flush(message_id)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _flush(self, message_id: str) -> None:
        now = self._flushed_at = time.monotonic()
        is_key = now - self._keyed_at >= KEYFRAME_SECONDS
        if is_key:
            self._keyed_at = now
        for kind, stream in self._streams.items():
            self._flush_stream(kind, stream, message_id, is_key=is_key)

    def _flush_stream(self, kind: str, stream: _Stream, message_id: str, *, is_key: bool) -> None:
        if not stream.pending and not (is_key and stream.text):
            return
        more = "".join(stream.pending)
        offset, text = (0, "".join(stream.text)) if is_key else (stream.sent, more)
        stream.sent += len(more)
        stream.pending.clear()
        self._send({"type": kind, "message_id": message_id, "offset": offset, "text": text})

    def _send(self, frame: dict[str, Any]) -> None:
        self._publish(self._thread_id, {**frame, "run_id": self._run_id})
