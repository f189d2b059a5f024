"""One reader's stream: what a first read found, then what comes, each change once, until the run it
follows has ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Iterable
from functools import partial

from agents.hub import hub
from agents.live.items import Item, Marks, RunRow, end_item
from agents.live.reads import (
    ANSWER,
    Page,
    SnapshotRead,
    may_see,
    read_run,
    read_snapshot,
    read_thread,
)
from agents.live.subscription import Subscription
from agents.live.texts import Captured
from felix_web.common.errors import FelixError
from felix_web.tenancy.principal import Principal
from sessions.core.frames import FrameType, error_frame, sse_field

RECENT_MESSAGES = 32
TEXT = (FrameType.TEXT_DELTA, FrameType.THINKING_DELTA, FrameType.TEXT_RESET)

Items = AsyncGenerator[list[Item], None]
"""Items in the order in which they go out, as they come; an empty list says that the stream is
alive.
"""


class Reader:
    """How far one stream is, and what its principal may see.

    Args:
        run_id: The run that the stream follows: it ends with it.
        is_run_only: True leaves out everything that is not of this run.
    """

    def __init__(
        self,
        *,
        principal: Principal,
        thread_id: int,
        run_id: str,
        marks: Marks,
        is_run_only: bool = False,
    ) -> None:
        self.principal = principal
        self.run_id = run_id
        self.marks = marks
        self.has_ended = False
        self._thread_id = thread_id
        self._is_run_only = is_run_only
        self._text_number = 0
        self._messages: deque[str] = deque(maxlen=RECENT_MESSAGES)

    def take(self, items: Iterable[Item]) -> list[Item]:
        """Return those of the items that the stream sends; it is further by them. Nothing follows
        the run's end.
        """
        sent = []
        for item in items:
            if self.has_ended:
                break
            if self._sends(item):
                sent.append(item)
                self.has_ended = item.is_end and item.run_id == self.run_id
        return sent

    def _sends(self, item: Item) -> bool:
        if item.kind in TEXT:
            return (
                item.run_id == self.run_id
                and item.place[0] > self._text_number
                and item.message_id not in self._messages
            )
        if not self.marks.take(item):
            return False
        if item.kind is FrameType.EVENT and item.frame["kind"] == ANSWER:
            self._messages.append(item.message_id)
        if item.kind is FrameType.GATE and not may_see(self.principal, item.frame["kind"]):
            return False
        if item.is_end and item.run_id != self.run_id:
            return False
        return not self._is_run_only or item.run_id == self.run_id

    def take_page(self, page: Page) -> list[Item]:
        """Return what the stream sends of a page; it stands behind the page then."""
        sent = self.take(page.items)
        self.marks.next_seq = max(self.marks.next_seq, page.next_seq)
        return sent

    def take_snapshot(self, read: SnapshotRead) -> list[Item]:
        """Return the snapshot; the stream goes on from it."""
        self.marks = read.marks
        self._messages.extend(
            event["message_id"] for event in read.frame["events"] if event["kind"] == ANSWER
        )
        return [read.item()]

    def _text_so_far(self, captured: Captured, committed: frozenset[str]) -> list[Item]:
        self._text_number = captured.number
        return [
            item
            for written in captured.written
            if written.run_id == self.run_id
            and written.message_id not in committed
            and written.message_id not in self._messages
            for item in written.items
        ]

    async def follow(self) -> Items:
        """Yield what comes behind the first read until the run has ended. Holds no connection while
        it waits.

        Raises:
            FelixError: why nothing more comes: the credential is gone, the thread is gone, the
                database is away.
        """
        subscription = hub().subscribe(
            thread_id=self._thread_id,
            tenant_id=self.principal.tenant_id,
            principal=self.principal,
        )
        try:
            async for items in self._catch_up(subscription):
                yield items
            while not self.has_ended:
                batch = await subscription.next()
                self.principal = subscription.principal
                if batch.refusal is not None:
                    raise batch.refusal
                if batch.is_stale:
                    yield await self._resync(subscription)
                elif (sent := self.take(batch.items)) or not batch.items:
                    yield sent
        finally:
            subscription.close()

    async def _catch_up(self, subscription: Subscription) -> Items:
        """Read from where the stream stands until the queue goes on exactly from there; then give
        the text so far.
        """
        while not self.has_ended:
            captured = subscription.restart()
            page = await hub().bridge.run(self._read(_messages_of(captured)))
            if sent := self.take_page(page):
                yield sent
            if self.has_ended or page.has_more or not subscription.settle(self.marks):
                continue
            if text := self._text_so_far(captured, page.committed):
                yield text
            return

    def _read(self, open_messages: list[str]) -> partial[Page]:
        tenant_id = self.principal.tenant_id
        if self._is_run_only:
            return partial(
                read_run,
                tenant_id=tenant_id,
                run_id=self.run_id,
                marks=self.marks,
                open_messages=open_messages,
            )
        return partial(
            read_thread,
            tenant_id=tenant_id,
            thread_id=self._thread_id,
            marks=self.marks,
            open_messages=open_messages,
        )

    async def _resync(self, subscription: Subscription) -> list[Item]:
        """Return what a reader gets for whom too much came: the thread as it is now. The queue goes
        on from there.
        """
        while True:
            captured = subscription.restart()
            read = await hub().bridge.run(
                partial(
                    read_snapshot,
                    tenant_id=self.principal.tenant_id,
                    thread_id=self._thread_id,
                    principal=self.principal,
                    open_messages=_messages_of(captured),
                )
            )
            if subscription.settle(read.marks):
                break
        sent = self.take_snapshot(read)
        end = await self._end_missed(read.newest)
        if end is not None:
            self.has_ended = True
            return [*sent, end]
        return [*sent, *self._text_so_far(captured, read.committed)]

    async def _end_missed(self, newest: RunRow | None) -> Item | None:
        """Return the end of the run that the stream follows, where it came while the reader was
        behind.
        """
        if newest is not None and newest.state.run_id == self.run_id:
            return None if newest.state.status.is_active else end_item(newest)
        page = await hub().bridge.run(
            partial(read_run, tenant_id=self.principal.tenant_id, run_id=self.run_id, marks=None)
        )
        return None if page.newest is None else end_item(page.newest)


def _messages_of(captured: Captured) -> list[str]:
    return [written.message_id for written in captured.written]


def refusal_item(error: FelixError) -> Item:
    """Return the last item of a stream that cannot go on."""
    frame = error_frame(code=error.code, message=error.message)
    return Item(FrameType.ERROR, frame, sse_field(frame), None, ())
