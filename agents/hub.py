"""The hub of a web process: rings and text come in from any thread, and go to whoever reads
(decisions 3.9).
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import cache
from typing import Any

from agents.deltas import TEXT_END
from agents.live.items import Item
from agents.live.subscription import Subscription
from agents.live.texts import Texts
from agents.live.topic import Topic
from agents.store import Bridge
from felix_web.tenancy.principal import Principal

log = logging.getLogger(__name__)

READ_THREADS = 4


class Hub:
    """Topics by thread; one exists while somebody reads the thread, and costs nothing else."""

    def __init__(self) -> None:
        # Guards the table of topics: rings come on the threads of writers, subscribers on the loop.
        self._lock = threading.Lock()
        self._topics: dict[int, Topic] = {}
        self._texts = Texts()
        self._background: set[asyncio.Task[None]] = set()
        self.bridge = Bridge(READ_THREADS)

    def ring(self, thread_id: int) -> None:
        """Readers of the thread look soon. Any thread may call this; it returns at once and never
        raises.
        """
        topic = self._topic(thread_id)
        if topic is not None:
            _call(topic, topic.ring)

    def ring_all(self) -> None:
        """All readers look soon: what to do once rings may have been lost."""
        with self._lock:
            topics = list(self._topics.values())
        for topic in topics:
            _call(topic, topic.ring)

    def carry(self, thread_id: int, frame: dict[str, Any]) -> None:
        """Text that is being written is kept, and on its way to readers, until its message ends.
        As `ring`: any thread, at once, never raises.
        """
        if frame["type"] == TEXT_END:
            self._texts.forget(thread_id, frame["run_id"], frame["message_id"])
            return

        def hand_on(item: Item) -> None:
            topic = self._topic(thread_id)
            if topic is not None:
                _call(topic, lambda: topic.give(item))

        self._texts.take(thread_id, frame, hand_on)

    def subscribe(self, *, thread_id: int, tenant_id: int, principal: Principal) -> Subscription:
        """Return a new reader's place, registered from now on. On the loop that reads; the reader
        closes it.

        The caller has made sure that the thread is the tenant's and the principal belongs to it.
        """
        topic = self._topic(thread_id)
        if topic is None or topic.loop is not asyncio.get_running_loop():
            topic = Topic(
                thread_id=thread_id,
                tenant_id=tenant_id,
                bridge=self.bridge,
                texts=self._texts,
                emptied=self._drop,
            )
            with self._lock:
                self._topics[thread_id] = topic
        return Subscription(topic, principal)

    def in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """The work goes on whatever becomes of the request that asked for it."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    @property
    def topic_count(self) -> int:
        """How many threads are read."""
        with self._lock:
            return len(self._topics)

    def _topic(self, thread_id: int) -> Topic | None:
        with self._lock:
            return self._topics.get(thread_id)

    def _drop(self, topic: Topic) -> None:
        with self._lock:
            if self._topics.get(topic.thread_id) is topic:
                del self._topics[topic.thread_id]


def _call(topic: Topic, act: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop has ended, and its readers with it
        topic.loop.call_soon_threadsafe(act)


@cache
def hub() -> Hub:
    """Return this process's hub."""
    return Hub()
