import pytest
from django.db import DatabaseError
from django.test import Client

from tests import make, people
from tests.panel.html import read

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/manifests/", "/usage/", "/audit/", "/tenants/"])
def test_a_page_that_is_not_built_says_so_and_what_to_use_instead(browser, path):
    answer = browser("carol").get(path)

    assert answer.status_code == 200
    assert "not built yet" in read(answer).words


def test_home_leads_to_the_threads(browser):
    assert browser("carol").get("/").url == "/threads/"


@pytest.mark.parametrize(
    "path", ["/threads/", "/threads/new/", "/approvals/", "/approvals/?queue=history", "/usage/"]
)
def test_u01_u02_each_page_has_one_heading_a_title_and_the_attention_line(browser, path):
    answer = browser("carol").get(path)
    page = read(answer)

    assert answer.content.count(b"<h1") == 1
    assert page.title.endswith(" - felix")
    assert "attention" in page.ids
    assert "Nothing waiting on you" in page.words
    assert "checked" in page.words


def test_pages_are_kept_in_no_cache(browser):
    assert browser("carol").get("/threads/").headers["Cache-Control"] == "no-store, private"


def test_the_attention_line_counts_what_waits_for_this_person_and_leads_there(browser):
    gate = make.gate()

    page = read(browser("bob").get("/usage/"))

    assert "1 waiting on you" in page.words
    assert f"/threads/t1/#gate-{gate.pk}" in page.links


def test_the_attention_line_of_a_viewer_counts_others_work_apart(browser):
    make.gate()

    page = read(browser("carol").get("/usage/"))

    assert "Nothing waiting on you" in page.words
    assert "1 waiting on others" in page.words


def test_u03_when_gates_cannot_be_read_the_line_says_so_and_counts_nothing(browser, monkeypatch):
    make.gate()

    def broken(**_):
        raise DatabaseError("secret host name")

    monkeypatch.setattr("felix_web.panel.attention.waiting_gates", broken)
    answer = browser("bob").get("/usage/")
    page = read(answer)

    assert "Cannot see approvals" in page.words
    assert "waiting on you" not in page.words
    assert "secret host name" not in page.words


def test_u77_a_strangers_thread_and_gate_are_not_there(browser):
    gate = make.gate()
    client = browser("mallory")

    for path in ("/threads/t1/", f"/approvals/{gate.pk}/"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "write_file" not in read(answer).words


def test_an_unknown_address_has_a_page_of_its_own():
    answer = Client(raise_request_exception=False).get("/nothing/here")

    assert answer.status_code == 404
    assert "There is nothing at this address" in read(answer).words


def test_a_fault_has_a_page_without_a_traceback(browser, monkeypatch):
    def broken(**_):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("agents.views.threads.list_context", broken)
    client = browser("carol")
    client.raise_request_exception = False

    answer = client.get("/threads/")

    assert answer.status_code == 500
    assert "Something went wrong inside Felix" in read(answer).words
    assert "secret detail" not in answer.content.decode()


def test_the_search_field_finds_threads_by_title(browser):
    make.manifest()
    make.finished(make.run(people.alice(), text="find the slow query", thread="t1"))
    make.finished(make.run(people.alice(), text="check the backups", thread="t2"))

    page = read(browser("carol").get("/threads/?q=slow"))

    assert "find the slow query" in page.words
    assert "check the backups" not in page.words


@pytest.mark.parametrize(
    ("asked", "leads_to"),
    [
        ("/approvals", "/approvals/"),
        ("/threads/t1?before=5", "/threads/t1/?before=5"),
        ("/threads/new", "/threads/new/"),
        ("/sign-in?next=/usage/", "/sign-in/?next=/usage/"),
    ],
)
def test_a_page_without_its_last_slash_leads_to_the_page(asked, leads_to):
    answer = Client().get(asked)

    assert (answer.status_code, answer.url) == (301, leads_to)


@pytest.mark.parametrize("path", ["/nothing", "/live/", "/threads/t1/decide", "/usage/x"])
def test_no_other_address_is_led_anywhere_by_a_slash(browser, path):
    assert browser("carol").get(path).status_code == 404


def test_a_form_is_sent_nowhere_but_where_its_page_says(browser):
    assert browser("alice").post("/threads/new", {"message": "x"}).status_code == 404
