"""A topic: one thread that somebody reads, read once for all of them (decisions 3.9)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial

from agents.live.items import Item, Marks, Place
from agents.live.reads import ANSWER, Credential, Page, read_authority, read_thread
from agents.live.subscription import Subscription
from agents.live.texts import Captured, Texts
from agents.store import Bridge, StoreUnavailable
from felix_web.common.errors import FelixError, NotFound, Unauthenticated
from felix_web.tenancy.principal import Principal
from sessions.core.frames import FrameType

log = logging.getLogger(__name__)

POLL_SECONDS = 1.0
IDLE_POLL_SECONDS = 3.0
IDLE_AFTER_SECONDS = 30.0
AUTHORITY_SECONDS = 2.0
HEARTBEAT_SECONDS = 15.0
REST_PER_READER_SECONDS = 0.0002
LONGEST_REST_SECONDS = 0.1


class StreamBroken(FelixError):
    """The stream broke off. Attach again from the last id."""

    code = "stream_broken"
    title = "Stream broken"


class Topic:
    """Reads a thread when it rings, and under that from time to time, and gives what is new to its
    subscribers.

    Made, and used, on one event loop.

    Args:
        emptied: Called when the last subscriber has left.
    """

    def __init__(
        self,
        *,
        thread_id: int,
        tenant_id: int,
        bridge: Bridge,
        texts: Texts,
        emptied: Callable[[Topic], None],
    ) -> None:
        self.thread_id = thread_id
        self.tenant_id = tenant_id
        self.loop = asyncio.get_running_loop()
        self.marks: Marks | None = None
        self._bridge = bridge
        self._texts = texts
        self._emptied = emptied
        self._subscribers: set[Subscription] = set()
        self._begun = asyncio.Event()
        self._rung = asyncio.Event()
        self._changed_at = self._checked_at = self.loop.time()
        self._task = self.loop.create_task(self._serve(), name=f"felix-topic-{thread_id}")
        self._task.add_done_callback(self._on_done)

    def add(self, subscriber: Subscription) -> None:
        """The subscriber gets what comes from now on."""
        self._subscribers.add(subscriber)

    def discard(self, subscriber: Subscription) -> None:
        """The subscriber gets nothing more; a topic without subscribers is over."""
        self._subscribers.discard(subscriber)
        if not self._subscribers:
            self._task.cancel()
            self._emptied(self)

    def capture(self) -> Captured:
        """Return the text so far of what is being written on the thread."""
        return self._texts.capture(self.thread_id)

    def begin(self, marks: Marks) -> None:
        """The topic goes on from here."""
        self.marks = marks.copy()
        self._begun.set()

    def ring(self) -> None:
        """The thread is read soon; a ring during a read makes it read again."""
        self._rung.set()

    def give(self, item: Item) -> None:
        """Every subscriber has the item."""
        for subscriber in self._subscribers:
            subscriber.put(item)

    async def _serve(self) -> None:
        await self._begun.wait()
        while True:
            timer = self.loop.call_later(self._pause(), self._rung.set)
            try:
                await self._rung.wait()
            finally:
                timer.cancel()
            self._rung.clear()
            try:
                await self._look()
                await asyncio.sleep(self._rest())
                await self._check_authority()
            except StoreUnavailable:
                log.warning("topic_not_read", extra={"thread_pk": self.thread_id})
            except NotFound as gone:
                self._refuse(self._subscribers, gone)
            self._beat()

    def _rest(self) -> float:
        """Return how long the readers are left alone behind a look, in seconds.

        A send costs the loop far more than the events in it: with many readers of a busy thread,
        several events go out together.
        """
        return min(len(self._subscribers) * REST_PER_READER_SECONDS, LONGEST_REST_SECONDS)

    def _pause(self) -> float:
        is_idle = self.loop.time() - self._changed_at > IDLE_AFTER_SECONDS
        return IDLE_POLL_SECONDS if is_idle else POLL_SECONDS

    async def _look(self) -> None:
        assert self.marks is not None
        read = partial(
            read_thread, tenant_id=self.tenant_id, thread_id=self.thread_id, marks=self.marks
        )
        page = await self._bridge.run(read)
        self._publish(page, self.marks)
        if page.has_more:
            self._rung.set()

    def _publish(self, page: Page, marks: Marks) -> None:
        known_from = marks.run_from
        for item in page.items:
            if not marks.take(item):
                continue
            self._changed_at = self.loop.time()
            self.give(item)
            if item.run_id is not None and item.message_id and item.frame["kind"] == ANSWER:
                self._texts.forget(self.thread_id, item.run_id, item.message_id)
        marks.next_seq = max(marks.next_seq, page.next_seq)
        if marks.run_from != known_from and page.newest is not None:
            marks.gates = _gates_of(page, page.newest.state.run_id)

    async def _check_authority(self) -> None:
        """Subscribers whose credential is gone are turned out; the others see what it allows now
        (decisions 3.11).
        """
        if self.loop.time() - self._checked_at < AUTHORITY_SECONDS:
            return
        self._checked_at = self.loop.time()
        found = (_credential(one.asked_as) for one in self._subscribers)
        asked = {credential for credential in found if credential is not None}
        present = await self._bridge.run(
            partial(read_authority, tenant_id=self.tenant_id, credentials=asked)
        )
        for subscriber in list(self._subscribers):
            credential = _credential(subscriber.asked_as)
            if credential is not None and credential in present:
                _see_as(subscriber, present[credential])

    def _beat(self) -> None:
        """A silent stream says that it is alive, early enough for the next look to be within the
        time.
        """
        due = self.loop.time() - HEARTBEAT_SECONDS + IDLE_POLL_SECONDS
        for subscriber in self._subscribers:
            if subscriber.heard_at <= due:
                subscriber.beat()

    def _refuse(self, subscribers: Iterable[Subscription], error: FelixError) -> None:
        for subscriber in list(subscribers):
            subscriber.refuse(error)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        error = task.exception()
        log.error("topic_failed", extra={"thread_pk": self.thread_id}, exc_info=error)
        self._refuse(self._subscribers, StreamBroken())
        self._emptied(self)


def _gates_of(page: Page, run_id: str) -> dict[str, Place]:
    gates = [item for item in page.items if item.kind is FrameType.GATE]
    return {item.gate_id: item.place for item in gates if item.run_id == run_id}


def _credential(principal: Principal) -> Credential | None:
    """Return what to look up, or None for a principal of no credential (FELIX_AUTH_MODE=none)."""
    if principal.member_id is None and principal.key_id is None:
        return None
    return Credential(principal.member_id, principal.key_id, principal.scopes)


def _see_as(subscriber: Subscription, present: Principal | None) -> None:
    if present is None:
        subscriber.refuse(Unauthenticated("The credential of this stream is not valid any more."))
    else:
        subscriber.principal = present
