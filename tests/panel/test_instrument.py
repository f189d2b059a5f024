from agents.views.present.activity import present_activity
from agents.views.present.composer import RUNNING, WAITING, present_composer
from agents.views.present.gate import present_gate
from agents.views.present.meters import present_meters
from agents.views.present.state_block import present_state
from tests.panel.wire import Log, at, gate, run

STORY = (
    Log()
    .add("run_started", 0)
    .asks(1, ("call_1", "shell", {}), ("call_2", "shell", {}))
    .ends(2, "call_1", "failed")
    .ends(3, "call_2", "interrupted")
    .events
)


def meters(*, has_older=False, events=STORY, **changes):
    return {
        meter.name: meter for meter in present_meters(run(**changes), events, has_older=has_older)
    }


def test_meters_count_what_the_events_say():
    shown = meters()

    assert [shown["Turns"].value, shown["Turns"].of] == ["1", "20"]
    assert [shown["Calls"].value, shown["of which failed"].value] == ["2", "1"]
    assert shown["interrupted"].value == "1"


def test_a_certain_cost_is_exact():
    cost = meters()["Cost"]

    assert (cost.value, cost.is_lower_bound) == ("$0.2114", False)


def test_u56_a_turn_without_usage_makes_every_total_a_lower_bound():
    shown = meters(usage=run()["usage"] | {"certain": False})

    assert shown["Cost"].is_lower_bound
    assert shown["Tokens in"].is_lower_bound


def test_an_unknown_price_is_no_number():
    assert meters(usage=run()["usage"] | {"cost_usd_micros": None})["Cost"].value == ""


def test_counts_over_a_part_of_the_run_are_lower_bounds():
    shown = meters(has_older=True, events=STORY[1:])

    assert shown["Calls"].is_lower_bound


def test_a_thread_without_a_run_has_no_meters():
    assert present_meters(None, [], has_older=False) == ()


def test_a_run_that_waits_names_the_call_and_its_deadline():
    card = present_gate(gate(), viewer="ana")
    block = present_state(run(status="waiting"), [card])

    assert block.face.word == "Waiting on you"
    assert (block.tool, block.target) == ("write_file", "config/staging.toml")
    assert block.deadline_ms == at(360)


def test_the_gate_one_can_decide_comes_before_a_nearer_one_of_others():
    nearer = present_gate(
        gate(gate_id="gate_0", can_decide=False, expires_at=at(100)), viewer="ana"
    )
    mine = present_gate(gate(), viewer="ana")

    assert present_state(run(status="waiting"), [nearer, mine]).gate_id == "gate_1"


def test_a_settled_gate_leaves_no_deadline_behind():
    settled = present_gate(gate(status="answered", decided_by="ana"), viewer="ana")

    assert present_state(run(), [settled]).deadline_ms is None


def test_a_failed_run_says_what_failed():
    failed = run(status="failed", error={"code": "provider", "message": "provider 529, 4 attempts"})

    assert present_state(failed, []).words == "provider 529, 4 attempts"


def test_the_scripted_model_is_named():
    assert present_state(run(scripted=True), []).is_scripted


def test_a_message_can_be_sent_while_no_run_goes():
    composer = present_composer(present_state(run(status="done"), []), may_send=True)

    assert composer.busy == ""
    assert not composer.can_stop


def test_while_a_run_goes_it_can_be_stopped_and_nothing_be_sent():
    composer = present_composer(present_state(run(), []), may_send=True)

    assert composer.busy == RUNNING
    assert composer.can_stop


def test_while_a_gate_waits_the_composer_points_to_it():
    card = present_gate(gate(), viewer="ana")
    composer = present_composer(present_state(run(status="waiting"), [card]), may_send=True)

    assert composer.busy == WAITING


def test_a_viewer_can_neither_send_nor_stop():
    composer = present_composer(present_state(run(), []), may_send=False)

    assert composer.busy
    assert not composer.can_stop


def test_activity_is_newest_first_and_knows_gates():
    denied = gate(status="denied", decided_by="bo", settled_at=at(90))

    rows = present_activity(STORY, [denied], {"run_1": "ana"})

    assert [rows[0].words, rows[1].words] == ["bo denied", "gate opened: write"]
    assert rows[-1].words == "run started by ana"


def test_the_newest_request_is_shown_as_a_part_of_the_models_window():
    usage = run()["usage"] | {"context_tokens": 24_500}

    context = meters(usage=usage, context_window=200_000)["Context"]

    assert (context.value, context.of) == ("12 %", "200\u2009000 tokens")


def test_without_a_known_window_nothing_is_said_of_it():
    assert "Context" not in meters(usage=run()["usage"] | {"context_tokens": 24_500})
