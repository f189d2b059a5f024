import pytest
from django.test import Client

from felix_web.tenancy.models import User
from tests import people
from tests.panel.conftest import PASSWORD, choose_password
from tests.panel.html import read

PAGES = ["/", "/threads/", "/threads/new/", "/threads/t1/", "/approvals/", "/approvals/gate_1/"]
PAGES += ["/manifests/", "/usage/", "/audit/", "/tenants/"]

pytestmark = pytest.mark.django_db


def sign_in(client, name="alice", password=PASSWORD, **more):
    return client.post("/sign-in/", {"username": name, "password": password, **more})


@pytest.mark.parametrize("path", PAGES)
def test_every_page_asks_a_stranger_to_sign_in(path):
    answer = Client().get(path, follow=True)

    assert answer.status_code == 200
    assert 'type="password"' in answer.content.decode()


def test_the_host_is_named(settings):
    settings.ALLOWED_HOSTS = ["felix.acme.test"]

    page = read(Client().get("/sign-in/", headers={"host": "felix.acme.test"}))

    assert "Sign in to felix.acme.test" in page.words
    assert page.title == "Sign in to felix.acme.test - felix"


def test_signing_in_leads_to_the_page_that_was_asked_for():
    choose_password("alice")
    client = Client()
    asked = client.get("/approvals/?queue=team")

    answer = sign_in(client, next=read(client.get(asked.url)).form("/sign-in/").fields["next"])

    assert answer.url == "/approvals/?queue=team"


@pytest.mark.parametrize(
    "target", ["https://evil.test/", "//evil.test/", "/\\evil.test", "javascript:1", "/sign-in/"]
)
def test_signing_in_leads_to_no_other_host(target):
    choose_password("alice")

    assert sign_in(Client(), next=target).url == "/"


def test_an_unknown_name_and_a_wrong_password_get_the_same_sentence():
    choose_password("alice")

    unknown = read(sign_in(Client(), name="nobody"))
    wrong = read(sign_in(Client(), password="nope"))

    assert "The name or the password is not right." in unknown.words
    assert unknown.words == wrong.words


def test_after_five_failures_the_name_is_locked_and_the_page_says_until_when():
    choose_password("alice")
    for _ in range(5):
        last = sign_in(Client(), password="nope")

    answer = sign_in(Client())

    assert answer.status_code == 429
    assert "You can try again at" in read(last).words
    assert "You can try again at" in read(answer).words


def test_a_name_that_does_not_exist_is_locked_just_the_same():
    for _ in range(5):
        sign_in(Client(), name="nobody", password="nope")

    assert sign_in(Client(), name="nobody").status_code == 429


def test_a_lock_holds_for_the_address_that_failed_only():
    choose_password("alice")
    for _ in range(5):
        sign_in(Client(), password="nope")

    assert sign_in(Client(REMOTE_ADDR="192.0.2.7")).status_code == 302


def test_a_person_without_a_tenant_is_told_so_and_not_signed_in():
    choose_password("carol")
    people.member("carol").__class__.objects.filter(user__username="carol").update(
        removed_at="2026-01-01T00:00:00Z"
    )
    client = Client()

    answer = sign_in(client, name="carol")

    assert "not a member of any tenant" in read(answer).words
    assert "_auth_user_id" not in client.session


def test_a_member_who_was_removed_is_out_at_the_next_page(browser):
    client = browser("carol")
    member = people.member("carol")
    member.removed_at = "2026-01-01T00:00:00Z"
    member.save()

    assert client.get("/threads/").status_code == 302


@pytest.mark.parametrize("path", ["/threads/", "/approvals/", "/"])
def test_a_one_time_password_opens_no_page_before_it_is_replaced(path):
    choose_password("alice")
    User.objects.filter(username="alice").update(has_one_time_password=True)
    client = Client()
    sign_in(client)

    answer = client.get(path)

    assert answer.status_code == 302
    assert answer.url.startswith("/sign-in/new-password/")


def test_a_one_time_password_leads_to_the_page_for_an_own_one():
    user = people.member("alice").user
    user.set_password(PASSWORD)
    user.has_one_time_password = True
    user.save()

    assert sign_in(Client(), next="/approvals/").url == (
        "/sign-in/new-password/?next=%2Fapprovals%2F"
    )


def test_the_own_password_replaces_the_printed_one(browser):
    client = browser("alice")

    answer = client.post("/sign-in/new-password/", {"password": "a much better one", "next": "/x/"})

    assert answer.url == "/x/"
    assert client.get("/threads/").status_code == 200
    assert sign_in(Client(), password="a much better one").url == "/"


@pytest.mark.parametrize("password", ["short", "password1234"])
def test_a_weak_password_is_refused_with_the_reason(browser, password):
    client = browser("alice")
    before = people.member("alice").user.password

    answer = client.post("/sign-in/new-password/", {"password": password})

    assert "password" in read(answer).words
    assert people.member("alice").user.password == before


def test_signing_out_takes_a_post_and_ends_the_session(browser):
    client = browser("alice")

    assert client.get("/sign-out/").status_code == 405
    assert client.post("/sign-out/").url == "/sign-in/"
    assert client.get("/threads/").status_code == 302


def test_without_keys_everybody_on_this_machine_is_the_first_admin(settings):
    settings.AUTH_MODE = "none"
    people.create_member(username="root", tenant=people.tenant("default"), role="admin")

    assert "root" in read(Client().get("/threads/")).words


def test_without_keys_and_without_an_admin_the_page_still_asks(settings):
    settings.AUTH_MODE = "none"

    assert Client().get("/threads/").status_code == 302


def test_forms_of_another_site_are_refused_with_a_page():
    answer = sign_in(Client(enforce_csrf_checks=True))

    assert answer.status_code == 403
    assert "Nothing was done" in read(answer).words


def test_u12_an_act_after_the_session_ended_is_not_done_and_its_text_comes_back():
    choose_password("alice")
    client = Client()

    asked = client.post("/threads/t1/send/", {"message": "hello again", "key": "act_1"})
    form = read(asked).form("/sign-in/")
    answer = sign_in(client, **{name: form.fields[name] for name in ("next", "kept")})

    assert asked.status_code == 401
    assert form.fields["kept"] == "hello again"
    assert answer.url == "/threads/t1/"
    assert client.session["draft"]["text"] == "hello again"


@pytest.mark.parametrize(
    ("act", "page"),
    [("/approvals/gate_1/decide/", "/approvals/gate_1/"), ("/threads/new/", "/threads/new/")],
)
def test_u12_an_act_after_the_session_ended_leads_back_to_the_page_of_its_form(act, page):
    asked = Client().post(act, {"note": "typed"})

    assert asked.status_code == 401
    assert "Not sent: you are signed out. Nothing was done" in read(asked).words
    assert read(asked).form("/sign-in/").fields["next"] == page


def test_u12_a_first_message_is_on_the_form_again_after_signing_in():
    choose_password("alice")
    client = Client()
    form = read(client.post("/threads/new/", {"message": "m" * 120_000})).form("/sign-in/")

    answer = sign_in(client, **{name: form.fields[name] for name in ("next", "kept")})

    page = read(client.get(answer.url))
    assert page.form("/threads/new/").fields["message"] == "m" * 120_000
