"""The hub: many writers, many readers, slow ones, lost rings, credentials that go."""

import asyncio
import threading

import pytest
from django.db import connection
from django.utils import timezone

from agents.hub import hub
from agents.live.items import Marks
from agents.live.subscription import QUEUE_ITEMS
from agents.streams import attach_stream, run_stream
from felix_web.common.doorbell import SilentDoorbell, install_doorbell
from felix_web.tenancy.models import ApiKey, Membership
from felix_web.tenancy.scoping import tenant_scope
from sessions.bells import ring_thread
from sessions.core.events import EventKind, NewEvent
from sessions.models import Run
from sessions.services.log import append
from tests import make, people
from tests.live.reading import Stream, db

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("bell")]


def queued(**facts):
    make.manifest()
    return make.run(**facts)


def note(row: Run, count: int = 1) -> None:
    """The run's log has so many more events, from one commit."""
    with tenant_scope(row.tenant_id):
        append(
            tenant_id=row.tenant_id,
            thread_id=row.thread_id,
            branch=0,
            leaf_epoch=0,
            run_id=row.pk,
            events=[NewEvent(EventKind.NOTE, {"content": "x"})] * count,
        )
        ring_thread(row.thread_id)


async def test_writers_on_many_threads_are_read_by_many_readers_each_event_once():
    row, alice = await db(queued), await db(people.alice)
    start = threading.Barrier(4)

    def write():
        start.wait(timeout=10)
        try:
            for _ in range(10):
                note(row)
        finally:
            connection.close()

    streams = [Stream(run_stream(run_id=row.pk, principal=alice)) for _ in range(25)]
    for stream in streams:
        await stream.__aenter__()
    await asyncio.gather(*(asyncio.to_thread(write) for _ in range(4)))
    for stream in streams:
        await stream.until(lambda s: len(s.seqs) >= 42)
        await stream.leave()

    assert [stream.seqs for stream in streams] == [list(range(42))] * 25


async def test_a_reader_that_is_too_slow_gets_a_snapshot_and_goes_on_from_it():
    row, alice = await db(queued), await db(people.alice)
    source = run_stream(run_id=row.pk, principal=alice)
    first = await anext(source)
    slow = asyncio.ensure_future(anext(source))
    async with Stream(run_stream(run_id=row.pk, principal=alice)) as quick:
        await quick.until(lambda s: s.seqs == [0, 1])
        await db(note, row)
        await slow
        for _ in range(3):
            known = len(quick.seqs)
            await db(note, row, QUEUE_ITEMS // 2)
            await quick.until(lambda s, known=known: len(s.seqs) > known)
        await quick.until(lambda s: len(s.seqs) == 3 + 3 * (QUEUE_ITEMS // 2))

        async with Stream(source) as rest:
            await rest.until(lambda s: s.frames)
            await db(note, row)
            await rest.until(lambda s: s.seqs)

    assert b'"run"' in first
    assert rest.frames[0]["type"] == "snapshot"
    assert rest.ids[0] == 3 + 3 * (QUEUE_ITEMS // 2)
    assert rest.seqs == [rest.ids[0]]


async def test_a_slow_reader_whose_run_ended_meanwhile_is_told_the_end():
    row, alice = await db(queued), await db(people.alice)
    source = run_stream(run_id=row.pk, principal=alice)
    await anext(source)
    held = asyncio.ensure_future(anext(source))
    async with Stream(run_stream(run_id=row.pk, principal=alice)) as quick:
        await quick.until(lambda s: s.seqs == [0, 1])
        await db(note, row)
        await held
        await db(note, row, QUEUE_ITEMS + 1)
        await db(make.finished, row)
        await quick.to_the_end()

    async with Stream(source) as rest:
        await rest.to_the_end()

    assert rest.kinds == ["snapshot", "done"]
    assert rest.is_done


async def test_a_lost_ring_only_delays():
    install_doorbell(SilentDoorbell())
    row, alice = await db(queued), await db(people.alice)

    async with Stream(run_stream(run_id=row.pk, principal=alice)) as stream:
        await stream.until(lambda s: s.frames)
        await db(make.finished, row)
        await stream.to_the_end()

    assert stream.kinds[-1] == "done"


@pytest.mark.parametrize("leave", ["revoke the key", "remove the owner", "let it lapse"])
async def test_a_stream_ends_when_its_credential_does(leave):
    secret = await db(people.key_of, "alice")
    row, caller = await db(queued), await db(people.of_key, secret)

    async with Stream(run_stream(run_id=row.pk, principal=caller)) as stream:
        await stream.until(lambda s: s.frames)
        await db(_end, leave)
        await stream.to_the_end()

    assert stream.frames[-1]["code"] == "unauthenticated"
    assert stream.is_done


def _end(how: str) -> None:
    now = timezone.now()
    if how == "revoke the key":
        ApiKey.objects.update(revoked_at=now)
    elif how == "let it lapse":
        ApiKey.objects.update(expires_at=now)
    else:
        Membership.objects.filter(user__username="alice").update(removed_at=now)


async def test_a_member_that_is_removed_loses_the_stream_and_the_others_keep_theirs():
    row, alice, bob = await db(queued), await db(people.alice), await db(people.bob)

    async with Stream(run_stream(run_id=row.pk, principal=bob)) as kept:
        async with Stream(run_stream(run_id=row.pk, principal=alice)) as lost:
            await lost.until(lambda s: s.frames)
            await db(_end, "remove the owner")
            await lost.to_the_end()
        await db(note, row)
        await kept.until(lambda s: s.seqs == [0, 1, 2])

    assert lost.frames[-1]["code"] == "unauthenticated"


async def test_a_thread_that_is_gone_ends_its_streams():
    row, alice = await db(queued), await db(people.alice)
    thread = row.thread

    async with Stream(await attach_stream(thread=thread, principal=alice, cursor=None)) as stream:
        await stream.until(lambda s: s.frames)
        await db(_delete, thread)
        await stream.to_the_end()

    assert stream.frames[-1]["code"] == "not_found"


def _delete(thread) -> None:
    thread.deleted_at = timezone.now()
    thread.save(update_fields=["deleted_at"])


async def test_readers_that_come_and_go_leave_nothing_behind():
    row, alice = await db(queued), await db(people.alice)
    before = len(asyncio.all_tasks())

    for _ in range(20):
        streams = [Stream(run_stream(run_id=row.pk, principal=alice)) for _ in range(10)]
        for stream in streams:
            await stream.__aenter__()
        await streams[-1].until(lambda s: s.frames)
        for stream in streams:
            await stream.leave()
    await asyncio.sleep(0)

    assert hub().topic_count == 0
    assert len(asyncio.all_tasks()) == before


async def test_a_reader_whose_read_may_be_older_than_the_topic_reads_again():
    row, alice = await db(queued), await db(people.alice)
    place = {"thread_id": row.thread_id, "tenant_id": row.tenant_id, "principal": alice}
    first, second = hub().subscribe(**place), hub().subscribe(**place)

    first.restart()
    second.restart()

    assert first.settle(Marks(next_seq=2))
    assert not second.settle(Marks(next_seq=1))
    second.restart()
    assert second.settle(Marks(next_seq=2))
    first.close()
    second.close()


async def test_a_stream_that_was_never_begun_holds_nothing():
    row, alice = await db(queued), await db(people.alice)

    source = await attach_stream(thread=row.thread, principal=alice, cursor=None)

    assert hub().topic_count == 0
    await source.aclose()


async def test_a_waiting_stream_holds_no_thread_of_the_bridge():
    row, alice = await db(queued), await db(people.alice)
    streams = [Stream(run_stream(run_id=row.pk, principal=alice)) for _ in range(12)]
    for stream in streams:
        await stream.__aenter__()
        await stream.until(lambda s: s.seqs == [0, 1])

    assert await hub().bridge.run(lambda: "free") == "free"
    for stream in streams:
        await stream.leave()


async def test_a_silent_stream_says_that_it_is_alive(monkeypatch):
    monkeypatch.setattr("agents.live.topic.HEARTBEAT_SECONDS", 3.1)
    row, alice = await db(queued), await db(people.alice)

    async with Stream(run_stream(run_id=row.pk, principal=alice)) as stream:
        await stream.until(lambda s: s.comments)

    assert stream.seqs == [0, 1]
