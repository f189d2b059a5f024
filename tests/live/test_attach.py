"""Attaching to a thread: from any cursor, in mid-run, and when there is nothing to see."""

import asyncio
import copy

import pytest

from agents.services.stopping import rewind
from agents.streams import attach_stream, cursor_of, run_stream, snapshot
from sessions.core.reducer import ThreadView
from tests import make, people
from tests.live import acts
from tests.live.reading import Stream, db, whole

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("bell")]

STEPS = (acts.asked, acts.decided, acts.carried_out)


def queued(**facts):
    make.manifest()
    return make.run(**facts)


def view_of(frames, view=None):
    view = view or ThreadView()
    for frame in frames:
        view.apply(copy.deepcopy(frame))
    return view


def same(shown: dict, fresh: dict) -> None:
    """Gates of one run have no order between themselves."""
    by_id = [sorted(one.pop("gates"), key=lambda gate: gate["gate_id"]) for one in (shown, fresh)]
    assert by_id[0] == by_id[1]
    assert shown == fresh


async def test_without_a_cursor_it_begins_with_a_snapshot_that_says_where_to_go_on():
    row, alice = await db(queued), await db(people.alice)
    gate_id = await db(acts.asked, row)

    async with Stream(
        await attach_stream(thread=row.thread, principal=alice, cursor=None)
    ) as stream:
        await stream.until(lambda s: s.frames)

    first = stream.frames[0]
    assert first["type"] == "snapshot"
    assert stream.ids == [3]
    assert first["thread"] == {
        "thread_id": "t1",
        "leaf_seq": 2,
        "leaf_epoch": 0,
        "active_branch": 0,
        "name": "write note.txt",
    }
    assert [event["seq"] for event in first["events"]] == [0, 1, 2]
    assert first["run"]["status"] == "waiting"
    assert first["run"]["waiting_on"] == ["approval"]
    assert [gate["gate_id"] for gate in first["gates"]] == [gate_id]
    assert first["branches"] == [{"branch_id": 0, "parent_branch_id": None, "from_seq": -1}]


async def test_a_snapshot_and_what_follows_are_a_fresh_snapshot():
    row, alice = await db(queued), await db(people.alice)

    async with Stream(
        await attach_stream(thread=row.thread, principal=alice, cursor=None)
    ) as stream:
        gate_id = await db(acts.asked, row)
        await stream.until(lambda s: "gate waiting" in s.kinds)
        await db(acts.decided, gate_id)
        await db(acts.carried_out, row, gate_id)
        await stream.to_the_end()

    fresh = await db(snapshot, thread=row.thread, principal=alice)
    same(view_of(stream.frames).snapshot(), fresh)


async def test_with_a_cursor_it_begins_with_run_then_what_was_missed_then_the_gates():
    row, alice = await db(queued), await db(people.alice)
    await db(acts.asked, row)

    async with Stream(await attach_stream(thread=row.thread, principal=alice, cursor=1)) as stream:
        await stream.until(lambda s: "gate waiting" in s.kinds)

    assert stream.kinds[0] == "run waiting"
    assert stream.seqs == [1, 2]
    assert stream.kinds[-1] == "gate waiting"


async def test_the_gate_comes_again_at_each_attach_whatever_the_cursor_is():
    row, alice = await db(queued), await db(people.alice)
    await db(acts.asked, row)

    async with Stream(await attach_stream(thread=row.thread, principal=alice, cursor=3)) as stream:
        await stream.until(lambda s: "gate waiting" in s.kinds)

    assert stream.seqs == []


@pytest.mark.parametrize("cut", range(8))
async def test_a_reader_that_was_cut_off_anywhere_gets_the_rest_once(cut):
    row, alice = await db(queued), await db(people.alice)
    gate_id = await db(acts.asked, row)
    await db(acts.decided, gate_id)
    async with Stream(run_stream(run_id=row.pk, principal=alice)) as first:
        await db(acts.carried_out, row, gate_id)
        await first.to_the_end()
    got = [frame for frame in first.frames if frame["type"] == "event"][:cut]

    rest = await attach_stream(thread=row.thread, principal=alice, cursor=cut)
    missed = [] if rest is None else (await whole(rest)).seqs

    assert [frame["seq"] for frame in got] + missed == list(range(7))
    assert (rest is None) == (cut == 7)


@pytest.mark.parametrize("stop", range(4))
async def test_a_view_that_was_cut_off_between_steps_is_whole_after_it_attached_again(stop):
    row, alice = await db(queued), await db(people.alice)
    gate = ()
    done = 0
    async with Stream(
        await attach_stream(thread=row.thread, principal=alice, cursor=None)
    ) as first:
        for step in STEPS[:stop]:
            gate = await _step(step, row, gate)
            done += 1
        await first.until(lambda s: s.frames)
    for step in STEPS[stop:]:
        gate = await _step(step, row, gate)
    view = view_of(first.frames)

    again = await attach_stream(thread=row.thread, principal=alice, cursor=view.cursor)
    if again is not None:
        view_of((await whole(again)).frames, view)

    same(view.snapshot(), await db(snapshot, thread=row.thread, principal=alice))


async def _step(step, row, gate):
    if step is acts.asked:
        return await db(step, row)
    if step is acts.decided:
        await db(step, gate)
    else:
        await db(step, row, gate)
    return gate


async def test_with_no_run_going_and_nothing_new_there_is_no_stream():
    row, alice = await db(acts.whole_run), await db(people.alice)

    assert await attach_stream(thread=row.thread, principal=alice, cursor=7) is None


async def test_with_no_run_going_what_was_missed_comes_and_the_stream_ends():
    row, alice = await db(acts.whole_run), await db(people.alice)

    stream = await whole(await attach_stream(thread=row.thread, principal=alice, cursor=5))

    assert stream.seqs == [5, 6]
    assert stream.kinds[-1] == "done"
    assert stream.is_done


async def test_with_no_run_going_and_no_cursor_the_snapshot_is_all():
    row, alice = await db(acts.whole_run), await db(people.alice)

    stream = await whole(await attach_stream(thread=row.thread, principal=alice, cursor=None))

    assert stream.kinds == ["snapshot"]
    assert stream.ids == [7]
    assert stream.is_done


async def test_a_cursor_that_the_thread_has_not_reached_counts_as_none():
    row, alice = await db(queued), await db(people.alice)

    async with Stream(await attach_stream(thread=row.thread, principal=alice, cursor=99)) as stream:
        await stream.until(lambda s: s.frames)

    assert stream.kinds == ["snapshot"]


@pytest.mark.parametrize("text", [None, "", "abc", "-1", "1.5", " 3", "٣", "9" * 19, "3\n"])
def test_a_cursor_that_is_garbage_counts_as_absent(text):
    assert cursor_of(text) is None


@pytest.mark.parametrize(("text", "cursor"), [("0", 0), ("17", 17), ("007", 7)])
def test_a_cursor_is_a_number(text, cursor):
    assert cursor_of(text) == cursor


async def test_a_hidden_thread_has_no_id():
    row, alice = await db(queued, thread=None), await db(people.alice)

    shown = await db(snapshot, thread=row.thread, principal=alice)

    assert shown["thread"]["thread_id"] is None


async def test_a_snapshot_leaves_out_gates_for_who_may_not_read_them():
    row = await db(queued)
    await db(acts.asked, row)
    secret = await db(people.key_of, "alice", scopes=["manifests:read"])
    blind = await db(people.of_key, secret)

    assert (await db(snapshot, thread=row.thread, principal=blind))["gates"] == []


async def test_a_rewind_ends_the_run_and_a_view_of_it_is_the_new_branch():
    row, alice = await db(queued), await db(people.alice)

    async with Stream(
        await attach_stream(thread=row.thread, principal=alice, cursor=None)
    ) as stream:
        await db(acts.asked, row)
        await stream.until(lambda s: "run waiting" in s.kinds)
        await db(rewind, principal=alice, thread=row.thread, after_seq=0)
        await stream.to_the_end()

    assert stream.frames[-1]["stop_reason"] == "superseded"
    assert "gate withdrawn" in stream.kinds
    view = view_of(stream.frames)
    again = await attach_stream(thread=row.thread, principal=alice, cursor=view.cursor)
    if again is not None:
        view_of((await whole(again)).frames, view)
    same(view.snapshot(), await db(snapshot, thread=row.thread, principal=alice))


async def test_the_next_run_of_a_thread_is_a_stream_of_its_own():
    first, alice = await db(queued), await db(people.alice)
    thread = first.thread

    async with Stream(await attach_stream(thread=thread, principal=alice, cursor=None)) as stream:
        await db(make.finished, first)
        await stream.to_the_end()
    second = await db(lambda: make.run(text="more"))
    async with Stream(
        await attach_stream(thread=thread, principal=alice, cursor=stream.cursor)
    ) as more:
        await db(make.finished, second)
        await more.to_the_end()

    assert {frame["run_id"] for frame in more.frames} == {second.pk}
    assert more.seqs == [4, 5, 6, 7]


async def test_readers_that_attach_while_the_run_goes_on_miss_and_repeat_nothing():
    row, alice = await db(queued), await db(people.alice)
    cursors = [None, 0, 1, 2, 3]

    async def read(cursor, delay):
        await asyncio.sleep(delay)
        source = await attach_stream(thread=row.thread, principal=alice, cursor=cursor)
        return None if source is None else await whole(source)

    gate_id = await db(acts.asked, row)
    reading = [
        asyncio.ensure_future(read(cursor, place * 0.01))
        for cursor in cursors
        for place in range(8)
    ]
    await db(acts.decided, gate_id)
    await db(acts.carried_out, row, gate_id)
    streams = await asyncio.gather(*reading)

    for cursor, stream in zip([c for c in cursors for _ in range(8)], streams, strict=True):
        first = stream.frames[0]["events"] if cursor is None else []
        seqs = [event["seq"] for event in first] + stream.seqs
        assert seqs == list(range(cursor or 0, 7))
