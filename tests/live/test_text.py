"""Text while it is written: each character once, wherever a reader comes in."""

import pytest

from agents.deltas import DeltaSink
from agents.hub import Hub, hub
from agents.live.items import Marks
from agents.live.reader import Reader
from agents.live.texts import Texts
from agents.streams import attach_stream, run_stream
from sessions.core.reducer import ThreadView
from tests import make, people
from tests.live.reading import Stream, db

BEGIN = {"type": "text_reset", "message_id": "m", "run_id": "r"}


def delta(offset, text, kind="text_delta"):
    return {"type": kind, "message_id": "m", "run_id": "r", "offset": offset, "text": text}


def handed(frames, texts=None):
    """Return what readers are told of frames that reach a process."""
    texts, said = texts or Texts(), []
    for frame in frames:
        texts.take(1, frame, said.append)
    return [item.frame for item in said]


def written(frames):
    """Return the text that a client has which only ever appends."""
    text = ""
    for frame in frames:
        text = "" if frame["type"] == "text_reset" else text
        if frame["type"] == "text_delta":
            assert frame["offset"] == len(text), "a character is missing, or comes twice"
            text += frame["text"]
    return text


FRAMES = [
    BEGIN,
    *[delta(3 * n, word) for n, word in enumerate(["The", " fi", "rst", " tr"])],
    BEGIN,
    *[delta(4 * n, word) for n, word in enumerate(["And ", "now ", "anot"])],
    delta(0, "And now another"),
    *[delta(15 + n, letter) for n, letter in enumerate(" one.")],
]


@pytest.mark.parametrize("start", range(len(FRAMES) + 1))
def test_a_reader_that_comes_in_at_any_frame_has_the_whole_text(start):
    texts = Texts()
    handed(FRAMES[:start], texts)

    so_far = [item.frame for one in texts.capture(1).written for item in one.items]
    more = handed(FRAMES[start:], texts)

    assert written([*so_far, *more]) == "And now another one."


def test_a_keyframe_is_cut_to_what_is_new():
    said = handed([BEGIN, delta(0, "Hel"), delta(0, "Hello")])

    assert [(frame["offset"], frame["text"]) for frame in said] == [(0, "Hel"), (3, "lo")]


def test_a_first_attempt_is_no_reset():
    assert handed([BEGIN, delta(0, "Hi")])[0]["type"] == "text_delta"


def test_behind_a_gap_nothing_is_said_until_a_keyframe():
    said = handed([delta(7, "wor"), delta(10, "ld"), delta(0, "Hello, world"), delta(12, "!")])

    assert [frame["text"] for frame in said] == ["Hello, world", "!"]


def test_a_keyframe_replaces_a_text_whose_reset_was_lost():
    said = handed([BEGIN, delta(0, "Hello"), delta(0, "Bye")])

    assert (said[-1]["offset"], said[-1]["text"]) == (0, "Bye")


def test_thinking_has_offsets_of_its_own():
    said = handed([BEGIN, delta(0, "hm", "thinking_delta"), delta(0, "yes")])

    assert [frame["offset"] for frame in said] == [0, 0]


def test_a_committed_message_is_kept_no_longer():
    texts = Texts()
    handed([BEGIN, delta(0, "Hello")], texts)

    texts.forget(1, "r", "m")

    assert texts.capture(1).written == ()


def test_text_of_very_many_threads_is_bounded():
    texts = Texts()
    for thread in range(3000):
        texts.take(thread, delta(0, "x"), lambda item: None)

    assert texts.capture(0).written == ()
    assert texts.capture(2999).written


def test_text_that_nobody_reads_needs_no_loop():
    silent = Hub()

    silent.carry(1, delta(0, "Hello"))
    silent.ring(1)

    assert silent.topic_count == 0


def queued():
    make.manifest()
    return make.run()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("bell")
@pytest.mark.parametrize("start", range(0, len(FRAMES) + 1, 2))
async def test_a_stream_that_attaches_at_any_delta_shows_each_character_once(start):
    row, alice = await db(queued), await db(people.alice)
    frames = [{**frame, "run_id": row.pk} for frame in FRAMES]
    for frame in frames[:start]:
        hub().carry(row.thread_id, frame)

    async with Stream(
        await attach_stream(thread=row.thread, principal=alice, cursor=None)
    ) as stream:
        await stream.until(lambda s: s.frames)
        for frame in frames[start:]:
            hub().carry(row.thread_id, frame)
        await stream.until(lambda s: written(s.frames) == "And now another one.")

    view = ThreadView()
    for frame in stream.frames:
        view.apply(frame)
    assert view.texts["m"].text == "And now another one."


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("bell")
async def test_text_that_was_captured_with_a_read_does_not_come_again():
    row, alice = await db(queued), await db(people.alice)
    frames = [{**frame, "run_id": row.pk} for frame in FRAMES[:3]]
    place = hub().subscribe(thread_id=row.thread_id, tenant_id=row.tenant_id, principal=alice)
    reader = Reader(
        principal=alice, thread_id=row.thread_id, run_id=row.pk, marks=Marks(next_seq=2)
    )

    for frame in frames[:2]:
        hub().carry(row.thread_id, frame)
    so_far = reader._text_so_far(place.restart(), frozenset())
    hub().carry(row.thread_id, frames[2])
    batch = await place.next()
    place.close()

    assert len(batch.items) == 2
    assert written(item.frame for item in [*so_far, *reader.take(batch.items)]) == "The fi"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("bell")
async def test_text_of_a_message_that_the_reader_has_as_an_event_is_not_sent():
    row, alice = await db(queued), await db(people.alice)
    taken = await db(make.claimed, row)
    await db(make.answered, taken, "Hello")
    message_id = (await _events(row, alice))[-1]["message_id"]
    late = {**delta(0, "Hello"), "run_id": row.pk, "message_id": message_id}
    hub().carry(row.thread_id, late)

    async with Stream(run_stream(run_id=row.pk, principal=alice)) as stream:
        await stream.until(lambda s: "event assistant_message" in s.kinds)
        hub().carry(row.thread_id, {**late, "offset": 5, "text": "!"})
        hub().carry(row.thread_id, {**delta(0, "Next"), "run_id": row.pk, "message_id": "n"})
        await stream.until(lambda s: "text_delta" in s.kinds)

    assert [f["message_id"] for f in stream.frames if f["type"] == "text_delta"] == ["n"]


async def _events(row, principal):
    from agents.streams import snapshot

    return (await db(snapshot, thread=row.thread, principal=principal))["events"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("bell")
async def test_what_a_driver_writes_reaches_a_reader_as_it_is_written():
    row, alice = await db(queued), await db(people.alice)
    sink = DeltaSink(thread_id=row.thread_id, run_id=row.pk, publish=hub().carry)

    async with Stream(run_stream(run_id=row.pk, principal=alice)) as stream:
        await stream.until(lambda s: s.seqs == [0, 1])
        sink.begin("m")
        for word in ("One ", "two ", "three."):
            sink.text("m", word)
        sink.end("m")
        await stream.until(lambda s: written(s.frames) == "One two three.")


def kept(hub_of_a_process, thread_id):
    return hub_of_a_process._texts.capture(thread_id).written


async def test_a_message_that_nobody_reads_is_kept_until_its_end_and_no_longer():
    silent = Hub()
    sink = DeltaSink(thread_id=1, run_id="r", publish=silent.carry)
    sink.begin("m")
    sink.text("m", "Hello")
    before = kept(silent, 1)

    sink.end("m")

    assert before
    assert kept(silent, 1) == ()
