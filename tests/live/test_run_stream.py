"""The stream of a run: from its first frame to its last, live and once more."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.hub import hub
from agents.live.reads import read_snapshot, read_thread
from agents.streams import replay_stream, run_stream, wait_for_end
from approvals.core.gate import Decision
from felix_web.common.errors import Unauthenticated
from felix_web.tenancy.models import ApiKey
from felix_web.tenancy.scoping import tenant_scope
from sessions.models import Run
from tests import make, people
from tests.live import acts
from tests.live.reading import Stream, db, whole

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("bell")]


def queued(**facts):
    make.manifest()
    return make.run(**facts)


def before(kinds, first, second):
    return kinds.index(first) < kinds.index(second)


async def gated(principal=None):
    """Return a gated run's stream, read live from before its first claim to its end."""
    row, alice = await db(queued), principal or await db(people.alice)
    async with Stream(run_stream(run_id=row.pk, principal=alice)) as stream:
        await stream.until(lambda s: "run queued" in s.kinds)
        gate_id = await db(acts.asked, row)
        await stream.until(lambda s: "run waiting" in s.kinds)
        await db(acts.decided, gate_id)
        await db(acts.carried_out, row, gate_id)
        await stream.to_the_end()
    return row, stream


async def test_a_run_begins_with_run_and_ends_with_done():
    row, stream = await gated()

    assert stream.frames[0]["run_id"] == row.pk
    assert stream.frames[0]["resume_token"] == row.resume_token
    assert stream.kinds[0] == "run queued"
    assert stream.kinds[-2:] == ["run done", "done"]
    assert stream.is_done
    assert stream.frames[-1]["final"] == {"role": "assistant", "content": "it is written"}


async def test_every_event_of_the_run_comes_once_and_in_order():
    _, stream = await gated()

    assert stream.seqs == list(range(7))


async def test_only_events_have_an_id_and_it_is_the_next_seq():
    _, stream = await gated()

    for frame, cursor in zip(stream.frames, stream.ids, strict=True):
        assert cursor == (frame["seq"] + 1 if frame["type"] == "event" else None)


async def test_frames_stand_in_the_order_in_which_they_make_sense():
    _, stream = await gated()
    kinds = stream.kinds

    assert before(kinds, "event assistant_message", "usage")
    assert before(kinds, "event assistant_message", "gate waiting")
    assert before(kinds, "gate waiting", "run waiting")
    assert before(kinds, "run waiting", "gate answered")
    assert before(kinds, "gate answered", "event call_started")
    assert before(kinds, "event run_finished", "run done")


async def test_usage_comes_after_each_answer_and_with_the_end():
    _, stream = await gated()
    usage = [frame for frame in stream.frames if frame["type"] == "usage"]

    assert [frame["input"] for frame in usage] == [11, 22]
    assert stream.frames[-1]["usage"]["input"] == 22


async def test_a_replay_is_the_run_and_its_gates_as_they_ended():
    row, live = await gated()
    alice = await db(people.alice)

    replay = await whole(replay_stream(run_id=row.pk, principal=alice))

    events = [frame for frame in live.frames if frame["type"] == "event"]
    assert [frame for frame in replay.frames if frame["type"] == "event"] == events
    assert replay.kinds[0] == "run done"
    assert replay.kinds.count("gate answered") == 1
    assert "gate waiting" not in replay.kinds
    assert before(replay.kinds, "gate answered", "event call_started")
    assert replay.frames[-1] == live.frames[-1]
    assert replay.is_done


async def test_a_replay_holds_nothing_of_other_runs():
    first = await db(acts.whole_run)
    second = await db(lambda: make.finished(make.run(text="again")))
    alice = await db(people.alice)

    replay = await whole(replay_stream(run_id=first.pk, principal=alice))
    other = await whole(replay_stream(run_id=second.pk, principal=alice))

    assert {frame["run_id"] for frame in replay.frames} == {first.pk}
    assert other.seqs == list(range(7, 11))


async def test_a_failed_run_ends_in_error():
    row, alice = await db(queued), await db(people.alice)
    await db(make.failed, row)

    stream = await whole(run_stream(run_id=row.pk, principal=alice))

    assert stream.frames[-1] == {
        "type": "error",
        "code": "provider_unreachable",
        "message": "No answer.",
    }
    assert stream.is_done


async def test_gates_are_left_out_for_who_may_not_read_them():
    secret = await db(people.key_of, "alice", scopes=["manifests:read"])
    blind = await db(people.of_key, secret)

    _, stream = await gated(blind)

    assert not [kind for kind in stream.kinds if kind.startswith("gate")]
    assert stream.seqs == list(range(7))


async def test_a_stranger_sees_nothing():
    row, mallory = await db(queued), await db(people.mallory)

    stream = await whole(run_stream(run_id=row.pk, principal=mallory))
    nothing = await whole(run_stream(run_id="run_none", principal=mallory))

    assert stream.frames == nothing.frames
    assert stream.kinds == ["error"]
    assert stream.frames[0]["code"] == "not_found"


async def test_a_reader_that_leaves_stops_nothing():
    row, alice = await db(queued), await db(people.alice)

    async with Stream(run_stream(run_id=row.pk, principal=alice)) as stream:
        await stream.until(lambda s: s.frames)

    await db(row.refresh_from_db)
    assert row.status == "queued"
    assert hub().topic_count == 0


async def test_a_request_that_nobody_can_come_back_for_is_aborted_when_its_reader_leaves():
    row, alice = await db(queued, thread=None), await db(people.alice)
    source = run_stream(run_id=row.pk, principal=alice, abort_on_disconnect=True)
    other = await db(lambda: make.run(thread="other"))

    async with Stream(run_stream(run_id=row.pk, principal=alice)) as witness:
        async with Stream(source) as stream:
            await stream.until(lambda s: s.frames)
        await witness.to_the_end()

    assert witness.frames[-1]["stop_reason"] == "aborted"
    await db(other.refresh_from_db)
    assert other.status == "queued"


async def test_an_ended_request_is_not_aborted():
    row, alice = await db(queued, thread=None), await db(people.alice)
    await db(make.finished, row)

    await whole(run_stream(run_id=row.pk, principal=alice, abort_on_disconnect=True))

    await db(row.refresh_from_db)
    assert row.status == "done"


async def test_a_long_run_comes_in_pages_without_a_loss():
    row, alice = await db(queued), await db(people.alice)
    await db(_talk, row, 1100)

    stream = await whole(run_stream(run_id=row.pk, principal=alice))

    assert stream.seqs == list(range(1103))
    assert (stream.kinds[0], stream.kinds[-1]) == ("run done", "done")


def _talk(row: Run, messages: int) -> None:
    from sessions.core.events import EventKind, NewEvent
    from sessions.services.log import append

    with tenant_scope(row.tenant_id):
        append(
            tenant_id=row.tenant_id,
            thread_id=row.thread_id,
            branch=0,
            leaf_epoch=0,
            run_id=row.pk,
            events=[NewEvent(EventKind.NOTE, {"content": "x"})] * (messages - 1),
        )
    make.finished(row)


async def test_waiting_for_the_end_ends_with_the_run():
    row, alice = await db(queued), await db(people.alice)

    assert not await wait_for_end(run_id=row.pk, principal=alice, timeout_seconds=0.05)
    await db(make.finished, row)
    assert await wait_for_end(run_id=row.pk, principal=alice, timeout_seconds=10)


async def test_waiting_for_the_end_says_when_the_credential_is_gone():
    secret = await db(people.key_of, "alice")
    row, caller = await db(queued), await db(people.of_key, secret)
    await db(lambda: ApiKey.objects.update(revoked_at=timezone.now()))

    with pytest.raises(Unauthenticated):
        await wait_for_end(run_id=row.pk, principal=caller, timeout_seconds=20)


async def test_a_look_that_finds_no_change_reads_no_evidence():
    row, alice = await db(queued), await db(people.alice)
    await db(acts.asked, row)
    marks = (await db(_read_snapshot, row, alice)).marks

    page, queries = await db(_look, row, marks)

    assert not [item for item in page.items if item.gate_id]
    assert queries
    assert not [query for query in queries if '"evidence"' in query]


async def test_a_gate_that_changed_is_read_whole():
    row, alice = await db(queued), await db(people.alice)
    marks = (await db(_read_snapshot, row, alice)).marks
    await db(acts.asked, row)

    page = await db(read_thread, tenant_id=row.tenant_id, thread_id=row.thread_id, marks=marks)

    (gate,) = [item.frame for item in page.items if item.gate_id]
    assert gate["evidence"]["target"] == gate["args"]["path"] == "note.txt"
    assert gate["edited_args"] is None


def _look(row: Run, marks):
    """Return what a look finds, and the queries of it."""
    with CaptureQueriesContext(connection) as queries:
        page = read_thread(tenant_id=row.tenant_id, thread_id=row.thread_id, marks=marks)
        return page, [query["sql"] for query in queries]


def _read_snapshot(row: Run, principal):
    return read_snapshot(tenant_id=row.tenant_id, thread_id=row.thread_id, principal=principal)


async def test_a_denied_call_is_streamed_as_denied():
    row, alice = await db(queued), await db(people.alice)

    async with Stream(run_stream(run_id=row.pk, principal=alice)) as stream:
        gate_id = await db(acts.asked, row)
        await db(acts.decided, gate_id, Decision.DENY)
        await stream.until(lambda s: "gate denied" in s.kinds)

    assert stream.frames[stream.kinds.index("gate denied")]["decided_by"] == "bob"
