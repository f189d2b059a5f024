import pytest
from axe_playwright_python.sync_playwright import Axe

SIZES = [(360, 640), (1024, 768), (1440, 900)]
ALL_SIZES = [(320, 640), (360, 640), (768, 1024), (1280, 800), (1920, 1080), (3840, 1600)]
OUTSIDE = ["/sign-in/", "/nothing/here"]
LANDMARKS = "() => [...document.querySelectorAll('main')].length"
TOO_SMALL = """least => [...document.querySelectorAll(
    'a, button, input, select, textarea, summary')]
  .filter(one => one.type !== 'hidden' && one.checkVisibility() && !one.closest('.hidden, .skip'))
  .filter(one => !(one.tagName === 'A' && getComputedStyle(one).display === 'inline'))
  .map(one => [one.outerHTML.slice(0, 120), one.getBoundingClientRect()])
  .filter(([, box]) => box.width > 0 && (box.width < least - .5 || box.height < least - .5))
  .map(([html, box]) => `${Math.round(box.width)}x${Math.round(box.height)} ${html}`)"""
NAMELESS = """() => [...document.querySelectorAll('input, select, textarea, button')]
  .filter(one => one.type !== 'hidden' && !one.labels?.length && !one.ariaLabel
    && !one.textContent.trim())
  .map(one => one.outerHTML.slice(0, 120))"""


def test_u01_each_page_has_one_heading_one_main_and_a_working_skip_link(visit, story):
    window = visit("bob", js=True)

    for path in story.pages:
        page = window.go(path)
        assert page.locator("h1").count() == 1, path
        assert page.evaluate(LANDMARKS) == 1, path
        assert page.title().endswith(" - felix"), path
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip", path
        page.keyboard.press("Enter")
        assert page.evaluate("location.hash") == "#content", path


def test_u10_no_page_complains_or_asks_another_host(visit, story):
    window = visit("bob", js=True)

    for path in [*story.pages, "/sign-in/"]:
        window.go(path)

    assert window.complaints == []


@pytest.mark.parametrize(("width", "height"), ALL_SIZES)
def test_u11_no_page_scrolls_sideways(visit, story, width, height):
    window = visit("bob", width=width, height=height, js=True)

    wide = [
        path
        for path in [*story.pages, *OUTSIDE]
        if window.go(path).evaluate("document.documentElement.scrollWidth") > width
    ]

    assert wide == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_u20_axe_finds_nothing(visit, story, width, height, theme):
    signed_in = visit("bob", width=width, height=height, theme=theme, js=True)
    stranger = visit(width=width, height=height, theme=theme, js=True)
    found = {}

    for window, paths in ((signed_in, story.pages), (stranger, OUTSIDE)):
        for path in paths:
            result = Axe().run(window.go(path))
            if result.violations_count:
                found[path] = result.generate_report()

    assert found == {}


def test_u23_every_target_is_24_pixels_at_least(visit, story):
    window = visit("bob", js=True)

    small = {path: window.go(path).evaluate(TOO_SMALL, 24) for path in story.pages}

    assert {path: found for path, found in small.items() if found} == {}


def test_u23_on_a_phone_every_target_is_44_pixels_at_least(visit, story):
    window = visit("bob", width=360, height=640, js=True)

    small = {path: window.go(path).evaluate(TOO_SMALL, 44) for path in [*story.pages, "/sign-in/"]}

    assert {path: found for path, found in small.items() if found} == {}


def test_u24_every_control_has_a_name(visit, story):
    window = visit("bob", js=True)

    nameless = {path: window.go(path).evaluate(NAMELESS) for path in [*story.pages, "/sign-in/"]}

    assert {path: found for path, found in nameless.items() if found} == {}


def test_u24_a_refused_sign_in_says_why_at_both_fields(visit, story):
    page = visit(js=True).go("/sign-in/")
    page.get_by_label("Name").fill("nobody")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()

    for label in ("Name", "Password"):
        field = page.get_by_label(label)
        assert field.get_attribute("aria-invalid") == "true"
        described = page.locator(f"#{field.get_attribute('aria-describedby')}")
        assert described.inner_text() == "The name or the password is not right."


@pytest.mark.parametrize("width", [768, 900, 1000, 1024, 1200, 1280])
def test_in_the_list_of_threads_the_title_is_the_last_to_shrink(visit, story, width):
    page = visit("bob", width=width, height=800).go("/threads/")
    widths = page.locator("thead th").evaluate_all("all => all.map(one => one.offsetWidth)")

    assert widths[1] >= max(220, *widths[2:])


def test_on_a_phone_the_menu_opens_without_a_script(visit, story):
    page = visit("bob", width=360, height=640).go("/threads/")

    page.get_by_role("button", name="Menu").click()

    assert page.get_by_role("link", name="Approvals").is_visible()
    assert page.get_by_role("button", name="Sign out bob").is_visible()
