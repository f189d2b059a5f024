"""A view of frames is the thread itself, however the reader came by them."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from sessions.core.reducer import SNAPSHOT_EVENTS, ThreadView
from sessions.core.states import RunStatus
from tests.unit.sessions.log import Log

ACTS = st.one_of(
    st.just(("begin_run",)),
    st.tuples(st.just("move_run"), st.sampled_from(list(RunStatus))),
    st.tuples(st.just("answer"), st.integers(1, 4)),
    st.tuples(
        st.just("gate"), st.integers(0, 2), st.sampled_from(["waiting", "answered", "denied"])
    ),
    st.tuples(st.just("rewind"), st.integers(0, 5)),
    st.just(("late_result",)),
)


def told(acts, log: Log | None = None) -> Log:
    log = log or Log()
    for name, *arguments in acts:
        getattr(log, name)(*arguments)
    return log


def seen(frames) -> ThreadView:
    view = ThreadView()
    for frame in frames:
        view.apply(copy.deepcopy(frame))
    return view


def delta(offset: int, text: str, message_id: str = "m", kind: str = "text_delta"):
    return {"type": kind, "message_id": message_id, "offset": offset, "text": text}


def gate(revision: int, status: str, approvals: int = 0):
    said = {"gate_id": "g", "run_id": "r", "revision": revision, "status": status}
    return {"type": "gate", **said, "approvals": [{}] * approvals}


@given(st.lists(ACTS, max_size=30), st.lists(ACTS, max_size=30))
def test_a_snapshot_and_the_frames_after_it_are_a_fresh_snapshot(before, after):
    log = told(before)
    first, sent = log.snapshot(), len(log.frames)
    told(after, log)

    view = seen([first, *log.frames[sent:]])

    assert view.snapshot() == log.snapshot()


@given(st.lists(ACTS, max_size=30), st.lists(ACTS, max_size=30))
def test_frames_that_come_twice_change_nothing(before, after):
    log = told(before)
    first, sent = log.snapshot(), len(log.frames)
    told(after, log)
    frames = [first, *log.frames[sent:]]

    each_twice = [frame for frame in frames for _ in range(2)]

    assert seen(each_twice).snapshot() == seen(frames).snapshot()
    assert seen(frames + frames).snapshot() == seen(frames).snapshot()


@given(st.lists(ACTS, max_size=30), st.data())
def test_after_any_prefix_the_cursor_says_where_to_go_on(acts, data):
    log = told(acts)
    frames = [Log().snapshot(), *log.frames]
    cut = data.draw(st.integers(1, len(frames)))
    view = seen(frames[:cut])

    missed = [f for f in log.frames if f["type"] != "event" or f["seq"] >= view.cursor]
    for frame in missed:
        view.apply(copy.deepcopy(frame))

    assert view.snapshot() == log.snapshot()


@given(st.lists(st.text(min_size=1, max_size=5), max_size=12), st.data())
def test_text_is_whole_wherever_a_reader_comes_in(pieces, data):
    start = data.draw(st.integers(0, len(pieces)))
    deltas, offset = [], 0
    for piece in pieces:
        deltas.append(delta(offset, piece))
        offset += len(piece)
    so_far = "".join(pieces[:start])

    view = seen([delta(0, so_far), *deltas[data.draw(st.integers(0, start)) :]])

    assert view.texts["m"].text == "".join(pieces)


def test_a_failed_attempt_is_forgotten():
    view = seen(
        [delta(0, "Hel"), {"type": "text_reset", "message_id": "m"}, delta(0, "By"), delta(2, "e")]
    )

    assert view.texts["m"].text == "Bye"


def test_a_keyframe_replaces_a_text_whose_reset_was_lost():
    view = seen([delta(0, "Hello"), delta(0, "Bye")])

    assert view.texts["m"].text == "Bye"


def test_text_behind_a_gap_is_not_taken_until_a_keyframe_heals_it():
    view = seen([delta(0, "He"), delta(4, "o")])
    assert view.texts["m"].text == "He"

    view.apply(delta(0, "Hello"))
    assert view.texts["m"].text == "Hello"


def test_thinking_and_text_are_kept_apart():
    view = seen([delta(0, "hm", kind="thinking_delta"), delta(0, "yes")])

    assert (view.texts["m"].thinking, view.texts["m"].text) == ("hm", "yes")


def test_the_committed_message_ends_its_text_and_late_text_of_it_is_not_taken():
    log = Log()
    log.begin_run()
    log.answer(2)
    late = next(frame for frame in log.frames if frame["type"] == "text_delta")

    view = seen([*log.frames, late])

    assert view.texts == {}


def test_a_reader_keeps_the_gate_that_is_furthest():
    assert seen([gate(2, "denied"), gate(1, "waiting")]).gates["g"]["revision"] == 2
    assert seen([gate(1, "expired"), gate(1, "waiting")]).gates["g"]["status"] == "expired"
    assert len(seen([gate(1, "waiting"), gate(1, "waiting", 1)]).gates["g"]["approvals"]) == 1


def test_a_long_thread_shows_its_newest_events_and_that_there_are_more():
    log = Log()
    log.begin_run()
    for _ in range(SNAPSHOT_EVENTS + 5):
        log.answer(1)

    view = seen([Log().snapshot(), *log.frames])

    assert view.snapshot() == log.snapshot()
    assert view.snapshot()["has_more"]


def test_the_frame_that_ended_a_stream_is_kept_until_another_run_begins():
    log = Log()
    log.begin_run()
    log.move_run(RunStatus.DONE)
    assert seen(log.frames).end["type"] == "done"

    log.begin_run()
    assert seen(log.frames).end is None
