"""One reader's place at a topic: a bounded queue, filled on the loop and emptied on it."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.live.items import Item, Marks
from agents.live.texts import Captured
from felix_web.common.errors import FelixError
from felix_web.tenancy.principal import Principal

if TYPE_CHECKING:
    from agents.live.topic import Topic

QUEUE_ITEMS = 256


@dataclass(frozen=True, slots=True)
class Batch:
    """What came since the last look. `is_stale`: too much came, and the reader is to read afresh.

    `refusal` is why nothing more comes; with none of these the batch is a heartbeat.
    """

    items: tuple[Item, ...]
    is_stale: bool = False
    refusal: FelixError | None = None


class Subscription:
    """Registered from the moment it is made until `close`.

    Args:
        principal: Whose eyes these are; the topic keeps it at what the credential is allowed now.
    """

    def __init__(self, topic: Topic, principal: Principal) -> None:
        self.principal = principal
        self.asked_as = principal
        self._topic = topic
        self._queue: deque[Item] = deque()
        self._is_stale = False
        self._is_beating = False
        self._refusal: FelixError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._began_unbased = True
        self.heard_at = topic.loop.time()
        topic.add(self)

    def restart(self) -> Captured:
        """What came so far is forgotten: the read that follows this covers it. Returns the text to
        go with that read.
        """
        self._queue.clear()
        self._is_stale = False
        self._began_unbased = self._topic.marks is None
        return self._topic.capture()

    def settle(self, marks: Marks) -> bool:
        """Return whether what is queued goes on exactly from a read that began at `restart` and led
        to these marks.

        False: the topic began at another reader's read meanwhile, which may be later than this
            one. Read again.
        """
        if self._topic.marks is None:
            self._topic.begin(marks)
            return True
        return not self._began_unbased

    def put(self, item: Item) -> None:
        """The item is queued; where there is no room, the reader is told to read afresh."""
        if self._is_stale or self._refusal is not None:
            return
        if len(self._queue) >= QUEUE_ITEMS:
            self._queue.clear()
            self._is_stale = True
        else:
            self._queue.append(item)
        self._wake()

    def beat(self) -> None:
        """The reader has something to send that says no more than that the stream is alive."""
        self._is_beating = True
        self._wake()

    def refuse(self, error: FelixError) -> None:
        """Nothing more comes, and the reader is told why."""
        self._refusal = error
        self._wake()

    def _wake(self) -> None:
        self.heard_at = self._topic.loop.time()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def next(self) -> Batch:
        """Return what came since the last call; waits while there is nothing."""
        while not (self._queue or self._is_stale or self._is_beating or self._refusal):
            self._waiter = self._topic.loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        batch = Batch(tuple(self._queue), self._is_stale, self._refusal)
        self._queue.clear()
        self._is_beating = False
        return batch

    def close(self) -> None:
        """The reader has left."""
        self._topic.discard(self)
