"""Reading a stream as a client does, and writing beside it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from django.db import connection

T = TypeVar("T")
PATIENCE_SECONDS = 20


async def db(work: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """Return what the work returns, done on a thread that keeps no connection."""

    def closed() -> T:
        try:
            return work(*arguments, **named)
        finally:
            connection.close()

    return await asyncio.to_thread(closed)


@dataclass
class Stream:
    """What a client got, in order. `ids` are the cursors of its frames; most have None."""

    source: AsyncGenerator[bytes, None]
    frames: list[dict] = field(default_factory=list)
    ids: list[int | None] = field(default_factory=list)
    comments: int = 0
    is_done: bool = False
    _task: asyncio.Task | None = None
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.leave()

    async def _read(self) -> None:
        try:
            async for chunk in self.source:
                for text in chunk.decode().split("\n\n")[:-1]:
                    self._take(text)
                self._more.set()
        finally:
            self._more.set()
            await self.source.aclose()

    def _take(self, text: str) -> None:
        assert not self.is_done, "something came behind [DONE]"
        lines = dict(line.split(": ", 1) for line in text.split("\n") if not line.startswith(":"))
        if not lines:
            self.comments += 1
        elif lines["data"] == "[DONE]":
            self.is_done = True
        else:
            self.frames.append(json.loads(lines["data"]))
            self.ids.append(int(lines["id"]) if "id" in lines else None)

    async def until(self, found: Callable[[Self], object]) -> None:
        """Return once this holds."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not found(self):
                assert self._task is not None
                assert not self._task.done(), f"the stream ended with {self.kinds}"
                self._more.clear()
                await self._more.wait()

    async def to_the_end(self) -> Self:
        """Return once the stream has ended."""
        assert self._task is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self._task
        return self

    async def leave(self) -> None:
        """The client has gone."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    @property
    def kinds(self) -> list[str]:
        """What came, each in a word: `event user_message`, `run waiting`, `done`."""
        return [kind(frame) for frame in self.frames]

    @property
    def seqs(self) -> list[int]:
        return [frame["seq"] for frame in self.frames if frame["type"] == "event"]

    @property
    def cursor(self) -> int | None:
        ids = [number for number in self.ids if number is not None]
        return ids[-1] if ids else None


def kind(frame: dict) -> str:
    word = frame.get("kind") if frame["type"] == "event" else frame.get("status")
    return f"{frame['type']} {word}" if word else frame["type"]


async def whole(source: AsyncGenerator[bytes, None] | None) -> Stream:
    """Return a stream that ends by itself, read to its end."""
    assert source is not None
    async with Stream(source) as stream:
        return await stream.to_the_end()
