import pytest

from agents.views.present.gate import present_gate
from tests.panel.wire import at, gate, long_gate


def card(one, viewer="ana", **options):
    return present_gate(one, viewer=viewer, **options)


def test_a_gate_that_waits_for_this_person_says_so_in_amber():
    assert card(gate()).face == ("Waiting on you", "waiting", "waiting")


def test_a_gate_that_waits_for_others_has_none_of_this_persons_colour():
    other = card(gate(can_decide=False, why_not="The rule names other reviewers."))

    assert other.face.tone == "muted"
    assert not other.can_decide
    assert other.why_not == "The rule names other reviewers."


@pytest.mark.parametrize(
    ("status", "face"),
    [
        ("answered", ("Approved", "done", "done")),
        ("denied", ("Denied", "muted", "muted")),
        ("expired", ("Denied by time", "failed", "failed")),
        ("withdrawn", ("Withdrawn", "muted", "muted")),
    ],
)
def test_a_settled_gate_cannot_be_decided_and_shows_how_it_ended(status, face):
    settled = card(gate(status=status, decided_by="bo", settled_at=at(90)))

    assert settled.face == face
    assert not settled.can_decide
    assert not settled.is_waiting


def test_time_is_no_person():
    assert card(gate(status="expired", decided_by="felix")).decided_by == ""


def test_a_withdrawn_gate_says_why():
    rewound = card(gate(status="withdrawn", settled_because="left behind by a rewind"))

    assert rewound.because == "Left behind by a rewind."


def test_a_half_approved_gate_names_who_approved_and_how_many_are_needed():
    half = card(gate(quorum=2, approvals=[{"by": "bo", "at": at(70)}]))

    assert half.needs == "2 reviewers; 1 of 2 approved so far."
    assert [vote.by for vote in half.votes] == ["bo"]
    assert half.can_decide


def test_who_has_approved_waits_for_the_others_and_has_no_buttons():
    mine = card(gate(quorum=2, approvals=[{"by": "ana", "at": at(70)}]))

    assert not mine.can_decide
    assert mine.why_not == "You approved this. It runs once 1 more reviewer did."


def test_the_consequence_of_a_first_approval_of_two_is_not_that_it_runs():
    assert "one more reviewer is needed" in card(gate(quorum=2)).consequence
    assert "this one call runs once" in card(gate()).consequence


def test_a_question_has_no_approve_button_in_the_panel():
    asked = card(gate(kind="question"))

    assert not asked.can_decide
    assert "client" in asked.why_not


def test_u33_a_card_with_folded_evidence_proves_nothing_seen():
    assert card(long_gate(100)).seen == ""


def test_u33_an_unfolded_card_proves_it_by_the_digest():
    unfolded = card(long_gate(100), is_unfolded=True)

    assert unfolded.seen == gate()["digest"]


def test_a_note_that_was_typed_comes_back_with_a_waiting_card():
    assert card(gate(), typed_note="looks odd").note == "looks odd"


def test_a_settled_card_shows_the_note_of_the_decision():
    denied = gate(status="denied", note="not today")

    assert card(denied, typed_note="mine").note == "not today"
