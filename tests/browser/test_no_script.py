"""U09: the whole round without JavaScript; the driver's part is played between the steps."""

import pytest

from approvals.models import Gate
from sessions.models import Run
from tests import make
from tests.panel.conftest import PASSWORD, choose_password

START = "write the first note"


def sign_in(window, name):
    choose_password(name)
    page = window.go("/threads/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    return page


def start(page, text):
    page.get_by_role("link", name="New thread").click()
    page.get_by_label("Agent").select_option("writer")
    page.get_by_label("Message").fill(text)
    page.get_by_role("button", name="Start").click()


@pytest.mark.parametrize(("press", "said"), [("Approve", "Approved by"), ("Deny", "Denied by")])
def test_u09_sign_in_send_see_the_gate_and_decide(visit, transactional_db, press, said):
    make.manifest(rule=", reviewers: [operator]")
    page = sign_in(visit(), "alice")

    start(page, START)
    assert page.title() == f"Queued: {START} - felix"
    make.gate(Run.objects.get())
    page.get_by_role("link", name="refresh").click()
    assert page.title() == f"Waiting: {START} - felix"
    page.get_by_role("link", name="Review the gate").click()
    page.get_by_label("Note to the agent").fill("as agreed")
    page.get_by_role("button", name=press).click()

    card = " ".join(page.locator(f"#gate-{Gate.objects.get().pk}").inner_text().split())
    assert f"{said} alice at" in card
    assert "as agreed" in card


def test_u09_open_a_thread_send_and_stop(visit, transactional_db):
    make.manifest()
    make.finished(make.run(text=START))
    page = sign_in(visit(), "alice")

    page.get_by_role("link", name=START).click()
    page.get_by_label("Message").fill("and then?")
    page.get_by_role("button", name="Send").click()
    assert page.title().startswith("Queued: ")
    page.get_by_role("button", name="Stop the run").click()

    assert page.title().startswith("Stopped: ")
    assert "The run was stopped" in page.inner_text("main")


def test_u12_a_note_typed_for_a_decision_comes_back_on_the_card_after_signing_in(
    visit, transactional_db
):
    make.manifest()
    gate = make.gate(make.run(text=START))
    page = sign_in(visit(), "bob")
    page.get_by_role("link", name=START).click()
    page.get_by_label("Note to the agent").fill("not before the freeze is over")
    page.context.clear_cookies(name="sessionid")

    page.get_by_role("button", name="Deny").click()
    assert "Not sent: you are signed out. Nothing was done" in page.inner_text("main")
    page.get_by_label("Name").fill("bob")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    assert page.get_by_label("Note to the agent").input_value() == "not before the freeze is over"
    assert Gate.objects.get(pk=gate.pk).status == "waiting"


def test_u12_a_message_sent_after_the_session_ended_comes_back_after_signing_in(
    visit, transactional_db
):
    make.manifest()
    make.finished(make.run(text=START))
    window = visit()
    page = sign_in(window, "alice")
    page.get_by_role("link", name=START).click()
    page.get_by_label("Message").fill("do not lose me")
    page.context.clear_cookies(name="sessionid")

    page.get_by_role("button", name="Send").click()
    assert page.get_by_label("Typed, not sent, kept for you").input_value() == "do not lose me"
    page.get_by_label("Name").fill("alice")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    assert page.get_by_label("Message").input_value() == "do not lose me"
    assert Run.objects.count() == 1
