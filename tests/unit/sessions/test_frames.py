"""Frames have the shapes that clients were promised, and nothing sealed is in them."""

import json

import pytest

from sessions.core.events import Event, EventKind
from sessions.core.frames import (
    DONE,
    HEARTBEAT,
    RunState,
    UsageTotals,
    end_frame,
    error_frame,
    event_frame,
    run_frame,
    sse_field,
    text_frame,
    text_reset_frame,
    usage_frame,
)
from sessions.core.frames import FrameType as Type
from sessions.core.states import RunStatus

USAGE = UsageTotals(input=11, output=3, cache_read=5, cache_write=2, cost_usd_micros=1_500)
USAGE_JSON = {
    "input": 11,
    "output": 3,
    "cache_read": 5,
    "cache_write": 2,
    "cost_usd": 0.0015,
    "certain": True,
}


def event(kind: EventKind, payload: dict, **more) -> Event:
    return Event(
        seq=4, branch=1, kind=kind, run_id="run_1", ts_ms=1_700_000_000_000, payload=payload, **more
    )


def run(status: RunStatus, **more) -> RunState:
    return RunState("run_1", "rt_1", status, **more)


def test_an_event_is_flat():
    said = event(EventKind.USER_MESSAGE, {"content": "hello", "by": "alice"})

    assert event_frame(said) == {
        "type": "event",
        "seq": 4,
        "branch_id": 1,
        "kind": "user_message",
        "run_id": "run_1",
        "ts": 1_700_000_000_000,
        "content": "hello",
        "by": "alice",
    }


def test_an_event_names_its_message_and_its_call_where_it_has_them():
    answer = event(EventKind.ASSISTANT_MESSAGE, {"content": ""}, message_id="msg_1")
    result = event(EventKind.TOOL_RESULT, {"tool": "t"}, call_id="call_1")

    assert event_frame(answer)["message_id"] == "msg_1"
    assert "call_id" not in event_frame(answer)
    assert event_frame(result)["call_id"] == "call_1"
    assert "message_id" not in event_frame(result)


def test_what_is_sealed_never_leaves():
    answer = event(EventKind.ASSISTANT_MESSAGE, {"content": "x"}, sealed={"thinking": ["sig-77"]})

    assert "sig-77" not in json.dumps(event_frame(answer))


def test_a_payload_cannot_pass_for_another_event():
    forged = event(EventKind.NOTE, {"type": "done", "seq": 99, "kind": "rewound", "run_id": "x"})

    frame = event_frame(forged)

    assert (frame["type"], frame["seq"], frame["kind"], frame["run_id"]) == (
        "event",
        4,
        "note",
        "run_1",
    )


def test_a_run_says_its_reason_and_what_it_waits_for_only_where_there_is_one():
    going = {"type": "run", "run_id": "run_1", "resume_token": "rt_1", "status": "running"}

    assert run_frame(run(RunStatus.RUNNING)) == going
    assert run_frame(run(RunStatus.WAITING, waiting_on=("approval",))) == {
        **going,
        "status": "waiting",
        "waiting_on": ["approval"],
    }
    assert run_frame(run(RunStatus.STOPPED, reason="aborted"))["reason"] == "aborted"


def test_usage_is_in_dollars_and_an_unknown_price_is_null():
    unknown = UsageTotals(cost_usd_micros=None, certain=False)

    assert usage_frame(run(RunStatus.RUNNING, usage=USAGE)) == {
        "type": "usage",
        "run_id": "run_1",
        **USAGE_JSON,
    }
    assert usage_frame(run(RunStatus.RUNNING, usage=unknown))["cost_usd"] is None


def test_a_run_that_is_done_ends_in_done():
    ended = run(
        RunStatus.DONE,
        usage=USAGE,
        stop_reason="end_turn",
        final={"role": "assistant", "content": "bye"},
    )

    assert end_frame(ended) == {
        "type": "done",
        "run_id": "run_1",
        "final": {"role": "assistant", "content": "bye"},
        "stop_reason": "end_turn",
        "usage": USAGE_JSON,
    }


@pytest.mark.parametrize("status", [RunStatus.STOPPED, RunStatus.EXPIRED])
def test_a_run_that_was_cut_short_ends_in_done_too(status):
    assert end_frame(run(status, stop_reason="aborted"))["type"] == "done"


def test_a_failed_run_ends_in_error():
    failed = run(RunStatus.FAILED, error={"code": "rate_limited", "message": "Try later."})

    assert end_frame(failed) == error_frame(code="rate_limited", message="Try later.")


def test_a_failed_run_that_left_no_error_says_its_reason():
    assert end_frame(run(RunStatus.FAILED, reason="dead"))["code"] == "dead"


def test_text_says_where_it_begins():
    assert text_frame(Type.TEXT_DELTA, message_id="m", offset=3, text="lo") == {
        "type": "text_delta",
        "message_id": "m",
        "offset": 3,
        "text": "lo",
    }
    assert text_reset_frame("m") == {"type": "text_reset", "message_id": "m"}


def test_only_what_moves_the_cursor_has_an_id():
    assert sse_field({"type": "event"}, next_seq=8) == b'id: 8\ndata: {"type":"event"}\n\n'
    assert sse_field({"type": "run"}) == b'data: {"type":"run"}\n\n'
    assert DONE == b"data: [DONE]\n\n"
    assert HEARTBEAT.startswith(b":")


def test_a_field_is_one_line_whatever_the_text_is():
    text = "a\nb\r\n\x00c\u2028é\ud800"

    field = sse_field({"type": "note", "text": text})

    assert field.count(b"\n") == 2
    assert json.loads(field.removeprefix(b"data: "))["text"] == text
