"""Tenants, people and keys: what is made, what is refused, and what a key may do."""

import pytest
from django.test import Client

from felix_web.common.errors import InvalidInput, NotFound, Unauthenticated
from felix_web.tenancy.auth import memberships_of, present_authority, principal_of_key
from felix_web.tenancy.models import ApiKey, Membership, Tenant, User
from felix_web.tenancy.principal import ROLE_SCOPES
from felix_web.tenancy.services import (
    AlreadyExists,
    create_first_operator,
    create_key,
    create_member,
    create_tenant,
    reset_password,
)
from tests import people

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("slug", ["", "A", "a b", "-a", "a/b", "a\n", "x" * 64, "ä"])
def test_a_tenants_slug_is_plain(slug):
    with pytest.raises(InvalidInput):
        create_tenant(slug=slug)

    assert Tenant.objects.count() == 0


def test_a_tenant_is_made_once():
    create_tenant(slug="acme")

    with pytest.raises(AlreadyExists):
        create_tenant(slug="acme")


def test_a_new_person_gets_a_one_time_password_and_a_known_one_none():
    first, second = create_tenant(slug="one"), create_tenant(slug="two")

    password = create_member(username="ann", tenant=first, role="viewer")
    again = create_member(username="ann", tenant=second, role="admin")

    user = User.objects.get()
    assert user.check_password(password)
    assert user.has_one_time_password
    assert again == ""
    assert [member.role for member in memberships_of(user)] == ["viewer", "admin"]


@pytest.mark.parametrize(("name", "role"), [("ann", "boss"), ("a b", "viewer"), ("", "viewer")])
def test_a_member_that_cannot_be_is_refused_and_nothing_is_written(name, role):
    home = create_tenant(slug="acme")

    with pytest.raises(InvalidInput):
        create_member(username=name, tenant=home, role=role)

    assert (User.objects.count(), Membership.objects.count()) == (0, 0)


def test_a_member_is_made_once():
    people.member("alice")

    with pytest.raises(AlreadyExists):
        create_member(username="alice", tenant=people.tenant(), role="viewer")


def test_a_key_is_stored_as_a_digest_only():
    secret = people.key_of("alice")

    stored = ApiKey.objects.values().get()

    assert secret.startswith("fx_")
    assert secret not in str(stored)


def test_a_keys_name_is_its_own_in_the_tenant():
    people.key_of("alice", key_name="ci")

    with pytest.raises(AlreadyExists):
        create_key(tenant=people.tenant(), name="ci", scopes=[])


@pytest.mark.parametrize(
    ("name", "scopes", "held", "missing"),
    [
        ("carol", ["*"], "approvals:read", "approvals:write"),
        ("bob", ["*"], "approvals:write", "manifests:write"),
        ("dora", ["*"], "manifests:write", None),
        ("dora", ["manifests:read"], "manifests:read", "manifests:write"),
        ("dora", ["manifests:write"], "manifests:read", "approvals:read"),
        ("carol", ["approvals:write"], None, "approvals:write"),
        ("bob", [], None, "approvals:read"),
    ],
)
def test_a_key_may_do_what_it_names_and_its_owner_may(name, scopes, held, missing):
    principal = people.of_key(people.key_of(name, scopes=scopes))

    assert held is None or principal.has(held)
    assert missing is None or not principal.has(missing)


def test_a_key_of_nobody_is_its_own_principal():
    principal = people.of_key(people.ownerless_key())

    assert principal.member_id is None
    assert principal.identity.startswith("key:")


def test_a_members_keys_and_login_are_one_principal():
    one, two = (people.of_key(people.key_of("bob")) for _ in range(2))

    assert one.identity == two.identity == people.bob().identity


def test_a_demoted_owner_takes_the_keys_scopes_along():
    secret = people.key_of("dora")
    Membership.objects.update(role="viewer")

    assert not principal_of_key(secret).has("manifests:write")


def test_a_made_up_key_is_nobody():
    with pytest.raises(Unauthenticated):
        principal_of_key("fx_made_up")


def test_authority_is_cut_to_what_is_left_of_it():
    dora = people.dora()
    Membership.objects.update(role="viewer")
    scopes = frozenset({"approvals:read", "approvals:write"})

    now = present_authority(member_id=dora.member_id, key_id=None, scopes=scopes)

    assert now.scopes == {"approvals:read"}


def test_the_first_operator_is_made_on_an_empty_database_only():
    name, password = create_first_operator()

    assert User.objects.get(username=name).check_password(password)
    assert create_first_operator() is None


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ("approvals:wirte", "did you mean approvals:write?"),
        ("Approvals:Read", "did you mean approvals:read?"),
        ("zzz", "scopes: "),
        ("approvals:*", "There is no scope 'approvals:*'"),
    ],
)
def test_a_scope_that_does_not_exist_is_refused_with_what_was_meant(scope, said):
    home = people.tenant()

    with pytest.raises(InvalidInput) as caught:
        create_key(tenant=home, name="ci", scopes=["approvals:read", scope])

    assert said in caught.value.message
    assert ApiKey.objects.count() == 0


@pytest.mark.parametrize(
    "name", ["", " ", "a\n", "a\x1b[31m", "a\u202eb", " a", "a" * 101, "\udcff"]
)
def test_a_keys_name_can_be_seen(name):
    home = people.tenant()

    with pytest.raises(InvalidInput):
        create_key(tenant=home, name=name, scopes=[])

    assert ApiKey.objects.count() == 0


def test_every_scope_that_a_role_has_can_be_given_to_a_key():
    wanted = sorted(set().union(*ROLE_SCOPES.values()))

    create_key(tenant=people.tenant(), name="all", scopes=wanted)

    assert ApiKey.objects.get().scopes == wanted


def test_a_persons_name_has_its_end():
    with pytest.raises(InvalidInput):
        create_member(username="a" * 151, tenant=people.tenant(), role="viewer")


def test_a_lost_password_is_replaced_and_every_sign_in_ends():
    alice = people.member("alice").user
    browser = Client()
    browser.force_login(alice)
    assert browser.get("/threads/").status_code == 200

    password = reset_password(username="alice")

    alice.refresh_from_db()
    assert alice.check_password(password)
    assert alice.has_one_time_password
    assert browser.get("/threads/").url.startswith("/sign-in/")


def test_nobody_has_no_password():
    with pytest.raises(NotFound, match="There is nobody named nobody"):
        reset_password(username="nobody")
