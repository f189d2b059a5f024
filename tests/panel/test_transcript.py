import pytest

from agents.views.present.call import INTERRUPTED
from agents.views.present.gate import present_gate
from agents.views.present.transcript import present_transcript
from tests.panel.wire import Log, gate

SHELL = ("call_1", "shell", {"command": "ls -l"})


def items(log, *, gates=(), active_run="run_1"):
    cards = {one["call_id"]: present_gate(one, viewer="ana") for one in gates}
    names = {"run_1": "ana"}
    return present_transcript(log.events, gates=cards, names=names, active_run=active_run).items


def call_of(log, **options):
    return next(item for item in items(log, **options) if item.kind == "call")


def test_what_a_person_said_stands_under_their_name_in_paragraphs():
    (turn,) = items(Log().add("user_message", 0, content="One.\n\nTwo\nlines."))

    assert (turn.kind, turn.who) == ("you", "ana")
    assert turn.paragraphs == ("One.", "Two\nlines.")


def test_an_answer_without_words_is_only_its_calls():
    log = Log().asks(1, SHELL)

    assert [item.kind for item in items(log)] == ["call"]


def test_reasoning_is_kept_apart_from_what_was_said():
    thinking = [{"text": "Hm."}, {"text": " "}]
    (turn,) = items(Log().add("assistant_message", 1, content="Yes.", thinking=thinking))

    assert turn.thoughts == ("Hm.",)
    assert turn.paragraphs == ("Yes.",)


def test_a_proposed_call_of_a_going_run_is_proposed():
    assert call_of(Log().asks(1, SHELL)).face.word == "Proposed"


def test_a_started_call_is_running():
    log = Log().asks(1, SHELL).add("call_started", 2, call_id="call_1", tool="shell")

    assert call_of(log).face.word == "Running"


def test_a_finished_call_says_how_long_it_took_and_what_came():
    log = Log().asks(1, SHELL).add("call_started", 2, call_id="call_1", tool="shell")
    log.ends(2.8, "call_1", content="a\nb")

    row = call_of(log)

    assert (row.face.word, row.took_ms, row.note) == ("Done", 800, "2 lines")
    assert (row.target, row.output) == ("ls -l", "a\nb")


def test_the_start_that_only_the_result_tells_of_counts():
    log = Log().asks(1, SHELL)
    log.ends(3, "call_1", started_ms=log.events[0]["ts"] + 1500)

    assert call_of(log).took_ms == 500


def test_u53_an_interrupted_call_says_that_its_effect_is_unknown():
    log = Log().asks(1, SHELL).add("call_started", 2, call_id="call_1", tool="shell")
    log.ends(9, "call_1", "interrupted")

    row = call_of(log)

    assert row.after == INTERRUPTED
    assert row.took_ms is None


def test_a_call_without_a_result_in_a_run_that_is_over_was_not_run():
    assert call_of(Log().asks(1, SHELL), active_run="").face.word == "Cancelled"


def test_a_started_call_without_a_result_in_a_run_that_is_over_is_interrupted():
    log = Log().asks(1, SHELL).add("call_started", 2, call_id="call_1", tool="shell")

    row = call_of(log, active_run="")

    assert (row.face.word, row.after) == ("Interrupted", INTERRUPTED)


def test_a_denial_names_who_and_the_note():
    settled = {"gate_id": "gate_1", "status": "denied", "decided_by": "bo", "note": "not now"}
    log = Log().asks(1, SHELL).ends(9, "call_1", "denied", gate=settled)

    assert call_of(log).after == "Denied by bo: not now"


def test_a_denial_by_time_is_red_and_says_so():
    settled = {"gate_id": "gate_1", "status": "expired", "decided_by": "felix", "note": ""}
    log = Log().asks(1, SHELL).ends(9, "call_1", "denied", gate=settled)

    row = call_of(log)

    assert row.face.tone == "failed"
    assert row.after.startswith("Denied by time")


def test_the_gate_stands_at_its_call():
    row = call_of(Log().asks(1, SHELL), gates=[gate()])

    assert row.is_waiting
    assert row.gate.gate_id == "gate_1"


def test_a_waiting_gate_whose_call_is_not_at_hand_is_shown_all_the_same():
    rows = items(Log().add("user_message", 0, content="Go"), gates=[gate(call_id="call_9")])

    assert rows[-1].is_waiting


def test_a_result_whose_question_is_on_an_older_page_has_a_row():
    log = Log(first_seq=200).ends(2, "call_0")

    assert [item.kind for item in items(log)] == ["call"]


@pytest.mark.parametrize(
    ("status", "reason", "words"),
    [
        ("failed", "dead", "The run failed: it could not be carried on and was given up."),
        ("stopped", "superseded", "The run was stopped: left behind by a rewind."),
        ("expired", "", "The run expired."),
    ],
)
def test_a_run_that_did_not_end_well_says_so_at_the_end(status, reason, words):
    log = Log().add("run_finished", 5, status=status, reason=reason)

    assert items(log)[-1].words == words


def test_a_run_that_ended_well_adds_no_line():
    assert items(Log().add("run_finished", 5, status="done", reason="")) == ()


@pytest.mark.parametrize("can_decide", [True, False])
def test_a_call_that_waits_looks_like_its_card(can_decide):
    waiting = gate(can_decide=can_decide)

    row = call_of(Log().asks(1, SHELL), gates=[waiting])

    assert row.face == row.gate.face
    assert (row.face.tone == "waiting") is can_decide
