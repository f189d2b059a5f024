import pytest

from approvals.models import Gate
from sessions.models import Thread
from tests import make, people
from tests.browser.conftest import LONG, ONE_LINE

TITLE = "Rotate the staging key and tell me what used the old one last, then write it down " * 2
PLACES = ["/approvals/{gate}/", "/threads/t1/", "/approvals/"]


def card_of(window, gate, place="/approvals/{gate}/"):
    page = window.go(place.format(gate=gate.pk))
    return page.locator(f"#gate-{gate.pk}")


def words(card):
    return " ".join(card.inner_text().split())


def status_of(gate):
    return Gate.objects.get(pk=gate.pk).status


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("width", [360, 1440])
def test_u30_the_evidence_is_above_both_buttons(visit, story, place, width):
    if (place, width) == ("/approvals/", 360):
        place = PLACES[0]  # a phone has no room for the card beside the list
    card = card_of(visit("bob", width=width, height=4000), story.gate, place)
    evidence = card.locator(".diff").last.bounding_box()

    for name in ("Approve", "Deny"):
        button = card.get_by_role("button", name=name).bounding_box()
        assert evidence["y"] + evidence["height"] <= button["y"]


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_u31_approve_and_deny_weigh_the_same_and_none_has_the_focus(visit, story, width):
    window = visit("bob", width=width, height=900, js=True)
    card = card_of(window, story.gate)
    buttons = [card.get_by_role("button", name=name) for name in ("Approve", "Deny")]
    approve, deny = (button.bounding_box() for button in buttons)
    weights = [button.evaluate("one => getComputedStyle(one).fontWeight") for button in buttons]
    borders = [button.evaluate("one => getComputedStyle(one).border") for button in buttons]

    assert approve["height"] == deny["height"] >= 44
    assert abs(approve["width"] - deny["width"]) <= 1
    assert deny["x"] - approve["x"] - approve["width"] == pytest.approx(8, abs=0.5)
    assert weights[0] == weights[1]
    assert borders[0] == borders[1]
    assert window.page.evaluate("document.activeElement.tagName") == "BODY"


@pytest.mark.parametrize("width", [320, 360, 1440])
def test_u32_evidence_scrolls_neither_way_inside_itself(visit, story, width):
    for gate in (story.gate, story.long_gate, story.odd_gate):
        evidence = card_of(visit("bob", width=width, js=True), gate).locator(".evidence")
        sizes = evidence.evaluate(
            "one => [one.scrollWidth - one.clientWidth, one.scrollHeight - one.clientHeight]"
        )
        assert sizes == [0, 0]


def test_u32_a_fold_shows_how_much_it_hides(visit, story):
    card = card_of(visit("bob"), story.long_gate)

    assert card.get_by_text("40 more lines").is_visible()
    assert not card.get_by_text("line 99").is_visible()


def test_u33_the_first_press_unfolds_at_the_place_that_was_not_seen(visit, story):
    window = visit("bob")
    card = card_of(window, story.long_gate)
    card.get_by_role("textbox").fill("let me see")

    card.get_by_role("button", name="Approve").click()

    assert card.get_by_text("line 99").is_visible()
    assert "40 lines you have not seen are now shown" in words(card)
    assert card.get_by_role("textbox").input_value() == "let me see"
    assert window.page.url.endswith(f"#rest-{story.long_gate.pk}")
    assert status_of(story.long_gate) == "waiting"


def test_u33_the_second_press_sends(visit, story):
    card = card_of(visit("bob"), story.long_gate)
    card.get_by_role("button", name="Approve").click()

    card.get_by_role("button", name="Approve").click()

    assert "Approved by bob" in words(card)
    assert status_of(story.long_gate) == "answered"


def opened(visit, args, *, size, turns=0):
    """Open the page of a thread whose gate waits, as a link without a fragment does."""
    for number in range(turns):
        make.finished(make.run(people.alice(), thread="tall", text=f"say {number}"), "Said. " * 60)
    gate = make.gate(make.run(people.alice(), thread="tall", text=TITLE), args=args)
    page = visit("bob", width=size[0], height=size[1]).go("/threads/tall/")
    return page.locator(f"#gate-{gate.pk}"), page.locator("#composer").bounding_box()["y"]


def below(card):
    head = card.locator(".gate-head").bounding_box()
    return head["y"] + head["height"]


@pytest.mark.parametrize("args", [LONG, ONE_LINE], ids=["lines", "one line"])
@pytest.mark.parametrize("size", [(1440, 900), (1024, 768)])
def test_a_run_page_opens_at_the_head_of_the_gate_not_at_its_buttons(visit, story, size, args):
    card, end = opened(visit, args, size=size, turns=6)
    top = card.page.locator("#transcript").bounding_box()["y"]

    assert top <= card.locator(".gate-head").bounding_box()["y"] <= top + 100
    assert card.locator(".evidence").bounding_box()["y"] < end
    assert card.get_by_role("button", name="Approve").bounding_box()["y"] > end


def test_a_run_page_without_a_gate_opens_at_its_newest_words(visit, story):
    for number in range(6):
        make.finished(make.run(people.alice(), thread="talk", text=f"say {number}"), "Said. " * 90)

    page = visit("bob", width=1440, height=900).go("/threads/talk/")

    last = page.locator(".log > li").last.bounding_box()
    assert last["y"] + last["height"] <= page.locator("#composer").bounding_box()["y"]


@pytest.mark.parametrize("size", [(360, 640), (768, 1024)])
def test_on_one_column_state_and_gate_are_in_sight_on_opening(visit, story, size):
    card, end = opened(visit, ONE_LINE, size=size, turns=2)
    state = card.page.locator("#state").bounding_box()

    assert state["y"] + state["height"] <= card.locator(".gate-head").bounding_box()["y"]
    assert below(card) <= end


def test_on_a_phone_a_long_title_takes_two_lines_and_is_read_out_whole(visit, story):
    make.finished(make.run(people.alice(), thread="tall", text=TITLE))
    page = visit("bob", width=360, height=640).go("/threads/tall/")

    heading = page.get_by_role("heading", level=1)
    assert heading.bounding_box()["height"] <= 2 * 28
    assert heading.text_content() == Thread.objects.get(suffix="tall").title


def test_u32_one_long_line_is_folded_by_the_rows_it_takes(visit, story):
    card, _ = opened(visit, ONE_LINE, size=(1440, 900))

    assert card.get_by_text("127 more rows").is_visible()
    card.get_by_role("button", name="Approve").click()

    assert "127 rows you have not seen are now shown" in words(card)
    assert card.get_by_text("step 01699").is_visible()


def test_enter_in_the_note_decides_nothing(visit, story):
    window = visit("bob")
    card = card_of(window, story.gate)

    card.get_by_role("textbox").press("Enter")

    assert window.posts == []
    assert status_of(story.gate) == "waiting"


def test_u35_who_comes_second_sees_who_was_first(visit, story):
    late = card_of(visit("bob"), story.gate)
    card_of(visit("dora"), story.gate).get_by_role("button", name="Deny").click()

    late.get_by_role("button", name="Approve").click()

    assert "dora denied this at" in words(late)
    assert "Nothing was sent." in words(late)
    assert late.get_by_role("button").count() == 0


def test_u37_when_time_is_over_the_face_is_red_and_the_buttons_are_gone(visit, story):
    window = visit("bob")
    Gate.objects.filter(pk=story.gate.pk).update(expires_at=story.gate.created_at)

    card = card_of(window, story.gate)

    assert "Denied by time at" in words(card)
    assert card.locator(".gate-head .is-failed").is_visible()
    assert card.get_by_role("button").count() == 0


def test_u39_two_reviewers_must_approve_and_the_first_sees_that_it_waits(visit, story):
    make.manifest(rule=", quorum: 2")
    gate = make.gate(make.run(people.alice(), thread="two"))
    card = card_of(visit("bob"), gate)

    card.get_by_role("button", name="Approve").click()

    assert "1 of 2 approved so far" in words(card)
    assert card.get_by_role("button").count() == 0


def test_u39_a_viewer_sees_the_evidence_and_no_buttons(visit, story):
    card = card_of(visit("carol"), story.gate)

    assert card.locator(".diff").is_visible()
    assert card.get_by_role("button").count() == 0


def test_u40_what_hides_is_shown_as_marks_counted_and_never_run(visit, story):
    window = visit("bob", js=True)
    card = card_of(window, story.odd_gate)
    marks = card.locator(".mark-char").all_inner_texts()

    assert {"U+202E", "U+200B", "ESC"} <= set(marks)
    assert "3 invisible characters shown" in words(card)
    assert "<script>window.hit=1</script>" in words(card)
    assert window.page.evaluate("window.hit") is None


def test_on_a_phone_the_buttons_come_into_sight_after_the_end_of_the_evidence(visit, story):
    window = visit("bob", width=360, height=640)
    card = card_of(window, story.long_gate)

    assert card.get_by_text("Read to the end").is_visible()
    assert card.locator(".verdict").bounding_box()["y"] > 640
