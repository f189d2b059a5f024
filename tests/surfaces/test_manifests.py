"""Manifests over REST: versions, and every way a document can be wrong."""

import json

import pytest

from agents.models import Manifest, ManifestVersion
from tests import make
from tests.surfaces.caller import Caller, refused

pytestmark = pytest.mark.django_db

PATH = "/api/manifests/writer"


def test_a_new_manifest_is_201_the_same_content_200_and_a_change_the_next_version():
    dora = Caller("dora")

    first = dora.put(PATH, make.manifest_text())
    again = dora.put(PATH, "# a comment\n" + make.manifest_text())
    changed = dora.put(PATH, make.manifest_text(ttl=60))

    assert [first.status_code, again.status_code, changed.status_code] == [201, 200, 201]
    assert [answer.json()["version"] for answer in (first, again, changed)] == [1, 1, 2]


def test_json_is_taken_as_yaml_is():
    document = {"metadata": {"name": "writer"}, "spec": {"tools": ["calculator"]}}

    answer = Caller("dora").put(PATH, json.dumps(document))

    assert answer.status_code == 201
    assert answer.json()["manifest"] == document


def test_a_manifest_is_read_back_as_it_was_written():
    dora = Caller("dora")
    text = make.manifest_text() + "# mine: é\n"
    dora.put(PATH, text)
    dora.put(PATH, make.manifest_text(ttl=60))

    old, live = dora.get(f"{PATH}?version=1").json(), dora.get(PATH).json()

    assert (old["name"], old["version"], old["text"]) == ("writer", 1, text)
    assert live["version"] == 2
    assert live["manifest"]["spec"]["approvals"][0]["ttl_seconds"] == 60


def test_an_unknown_version_is_404():
    make.manifest()

    refused(Caller("dora").get(f"{PATH}?version=9"), 404, "unknown_manifest")


def test_the_list_has_the_tenants_own_and_the_bundled_ones():
    make.manifest()

    items = Caller("carol").get("/api/manifests/").json()["items"]

    assert {"name": "writer", "version": 1, "bundled": False} in items
    assert {"name": "quick", "version": None, "bundled": True} in items


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("metadata: {name: writer}\nspec: {tolls: []}\n", "tools"),
        ("metadata: {name: writer}\nmetadata: {name: writer}\n", "metadata"),
        ("metadata: {name: other}\n", "other"),
        ("metadata: {name: writer}\nspec: {queues: {}}\n", "not supported by this build"),
        ("a: [", "YAML"),
        ("", ""),
        (b"\xff", "UTF-8"),
        ("&a a: &b [*a, *a]\n", ""),
        ("metadata: {name: writer, description: '" + "x" * 300_000 + "'}", "256 KiB"),
    ],
    ids=["typo", "twin", "name", "unbuilt", "syntax", "empty", "bytes", "aliases", "large"],
)
def test_an_invalid_manifest_is_422_with_every_place_and_stores_nothing(text, words):
    answer = Caller("dora").put(PATH, text)

    problem = refused(answer, 422, "invalid_manifest")
    assert words in problem["detail"]
    assert {"path", "line", "column", "message"} == set(problem["problems"][0])
    assert ManifestVersion.objects.count() == 0


def test_a_bomb_of_aliases_is_refused_at_once():
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]

    answer = Caller("dora").put(PATH, "\n".join(rows))

    assert "alias" in refused(answer, 422, "invalid_manifest")["detail"]


def test_only_an_admin_puts_manifests():
    for name in ("alice", "bob", "carol"):
        refused(Caller(name).put(PATH, make.manifest_text()), 403, "missing_scope")

    assert Manifest.objects.count() == 0


def test_a_key_with_the_read_scope_reads_and_does_not_put():
    from tests import people

    make.manifest()
    reader = Caller(key=people.key_of("dora", scopes=["manifests:read"]))

    assert reader.get(PATH).status_code == 200
    refused(reader.put(PATH, make.manifest_text(ttl=60)), 403, "missing_scope")


def test_a_key_without_scopes_does_not_read_manifests():
    from tests import people

    chatter = Caller(key=people.key_of("dora", scopes=[]))

    refused(chatter.get("/api/manifests"), 403, "missing_scope")


def test_an_unknown_manifest_is_answered_with_an_address_that_is_there():
    dora = Caller("dora")

    hint = refused(dora.get("/api/manifests/none"), 404, "unknown_manifest")["hint"]

    method, address = hint.split()[:2]
    assert (method, dora.get(address).status_code) == ("GET", 200)
