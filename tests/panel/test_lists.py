from agents.views.present.inbox import present_inbox
from agents.views.present.thread_row import present_rows
from tests.panel.wire import at, gate


def row(thread_id, status, updated=0, **changes):
    return {
        "thread_id": thread_id,
        "title": thread_id,
        "status": status,
        "manifest": "governed",
        "version": 14,
        "owner": "ana",
        "cost": 210_000,
        "updated_at": at(updated),
    } | changes


def test_threads_that_wait_come_first_by_deadline_then_those_that_run():
    rows = present_rows(
        [
            row("old", "done", 1),
            row("later", "waiting", deadline=at(500)),
            row("going", "running", 2),
            row("soon", "waiting", deadline=at(100)),
            row("new", "failed", 3),
        ],
        viewer="ana",
    )

    assert [one.thread_id for one in rows] == ["soon", "later", "going", "new", "old"]
    assert [one.starts_band for one in rows] == [False, False, True, True, False]


def test_a_waiting_thread_opens_at_its_gate():
    (one,) = present_rows([row("a", "waiting", deadline=at(9))], viewer="ana")

    assert one.link == "#gate"


def test_a_thread_waits_on_who_can_decide_its_gate():
    waiting = row("a", "waiting", deadline=at(9), gate=gate())

    (mine,) = present_rows([waiting], viewer="ana")
    (other,) = present_rows([waiting | {"gate": gate(can_decide=False)}], viewer="carol")

    assert (mine.face.word, other.face.word) == ("Waiting on you", "Waiting on others")


def test_a_thread_without_a_title_is_not_called_untitled():
    (one,) = present_rows([row("a", "", title="")], viewer="ana")

    assert (one.title, one.face.word) == ("New thread", "No run yet")


def test_a_failed_thread_says_what_stopped_it():
    (one,) = present_rows([row("a", "failed", error={"message": "provider 529"})], viewer="ana")

    assert one.doing == "provider 529"


def test_an_unknown_cost_is_no_number():
    (one,) = present_rows([row("a", "done", cost=None)], viewer="ana")

    assert one.cost == ""


def test_the_inbox_has_the_nearest_deadline_first():
    gates = [gate(gate_id="late", expires_at=at(900)), gate(gate_id="soon", expires_at=at(90))]

    assert [one.card.gate_id for one in present_inbox(gates, viewer="ana")] == ["soon", "late"]


def test_history_has_the_newest_decision_first():
    gates = [
        gate(gate_id="first", status="denied", settled_at=at(10)),
        gate(gate_id="second", status="answered", settled_at=at(20)),
    ]

    rows = present_inbox(gates, viewer="ana", newest_first=True)

    assert [one.card.gate_id for one in rows] == ["second", "first"]


def test_a_gate_of_a_hidden_thread_is_a_request_without_a_thread():
    (one,) = present_inbox([gate(thread_id=None)], viewer="ana")

    assert one.title == "A request without a thread"
