"""A decision is taken on the world as it is now: one test for each part the approval is bound to
(L7)."""

import dataclasses

import pytest

from agents.core.tools import registry
from agents.services.deciding import EvidenceUnreadable, Word, decide
from agents.services.manifests import put_manifest
from approvals.core.gate import Decision, GateStatus
from approvals.errors import AlreadyDecided, EvidenceChanged, InvalidEdit, NotAReviewer, StaleGate
from approvals.models import Decision as DecisionRow
from approvals.models import Gate
from felix_web.audit.models import AuditEvent
from felix_web.common.errors import InvalidInput, NotFound
from felix_web.tenancy.principal import MissingScope
from sessions.models import Run
from tests import make, people

pytestmark = pytest.mark.django_db

APPROVE, DENY = Decision.APPROVE, Decision.DENY


def approve(gate, principal=None, **more):
    reviewer = principal or people.bob()
    return decide(principal=reviewer, gate_id=gate.pk, word=Word(APPROVE, **more))


def changed(monkeypatch, name, **facts):
    """The tool is defined otherwise from now on, as after an upgrade."""
    tools = dict(registry.builtin_tools())
    tools[name] = dataclasses.replace(tools[name], **facts)
    monkeypatch.setattr(registry, "_TOOLS", tools)


def asked_again(gate):
    now = Gate.objects.get(pk=gate.pk)
    return (now.status, now.settled_because, Run.objects.get().status) == (
        "withdrawn",
        "evidence_changed",
        "queued",
    )


def test_nothing_changed_so_the_approval_is_taken():
    settled = approve(make.gate())

    assert settled.status == GateStatus.ANSWERED
    assert settled.settled_by == "bob"


def test_a_file_that_appeared_asks_again():
    gate = make.gate()
    make.workspace_of(gate.run).workspace.replace("note.txt", b"x")

    with pytest.raises(EvidenceChanged) as refusal:
        approve(gate)

    assert asked_again(gate)
    assert refusal.value.fields["gate"]["status"] == "withdrawn"
    assert DecisionRow.objects.count() == 0


def test_a_file_that_was_rewritten_asks_again():
    make.manifest()
    run = make.run()
    make.workspace_of(run).workspace.replace("note.txt", b"before\n")
    gate = make.gate(run)
    make.workspace_of(run).workspace.replace("note.txt", b"after\n")

    with pytest.raises(EvidenceChanged):
        approve(gate)

    assert asked_again(gate)


def test_a_tool_that_is_defined_otherwise_asks_again(monkeypatch):
    gate = make.gate()
    changed(monkeypatch, "write_file", description="Writes, and tells the neighbours.")

    with pytest.raises(EvidenceChanged):
        approve(gate)

    assert asked_again(gate)


@pytest.mark.parametrize(
    "part",
    [
        {"args": {"path": "other.txt", "content": "hello\n"}},
        {"args": {"path": 1}},
        {"args_digest": "x"},
        {"tool_digest": "x"},
        {"preimage": "file:x"},
        {"tool": "list_dir"},
    ],
    ids=str,
)
def test_a_gate_whose_own_row_was_tampered_with_asks_again(part):
    gate = make.gate()
    Gate.objects.filter(pk=gate.pk).update(**part)

    with pytest.raises(EvidenceChanged):
        approve(gate)

    assert asked_again(gate)


def test_a_denial_needs_no_look_at_the_world():
    gate = make.gate()
    make.workspace_of(gate.run).workspace.replace("note.txt", b"x")

    settled = decide(principal=people.bob(), gate_id=gate.pk, word=Word(DENY, note="no"))

    assert (settled.status, settled.note) == (GateStatus.DENIED, "no")


def test_evidence_that_cannot_be_read_is_never_approved(settings):
    gate = make.gate()
    make.workspace_of(gate.run).workspace.replace("elsewhere", b"x")
    elsewhere = next(settings.DATA_DIR.rglob("elsewhere"))
    elsewhere.with_name("note.txt").symlink_to(elsewhere)

    with pytest.raises(EvidenceUnreadable):
        approve(gate)

    assert Gate.objects.get().status == "waiting"
    assert DecisionRow.objects.count() == 0


def test_one_who_may_not_decide_does_not_make_it_ask_again():
    make.manifest()
    gate = make.gate(make.run(people.dora()))
    make.workspace_of(gate.run).workspace.replace("note.txt", b"x")

    with pytest.raises(NotAReviewer):
        approve(gate, people.alice())

    assert Gate.objects.get().status == "waiting"


def test_a_stale_card_does_not_make_it_ask_again():
    gate = make.gate()
    make.workspace_of(gate.run).workspace.replace("note.txt", b"x")

    with pytest.raises(StaleGate):
        approve(gate, digest="wrong")

    assert Gate.objects.get().status == "waiting"


def test_an_approval_stands_when_the_file_changes_afterwards():
    gate = make.gate()
    approve(gate)
    make.workspace_of(gate.run).workspace.replace("note.txt", b"x")

    assert approve(gate).status == GateStatus.ANSWERED


def test_edited_arguments_are_bound_with_what_they_would_change():
    gate = make.gate()
    make.workspace_of(gate.run).workspace.replace("other.txt", b"old\n")
    edit = {"path": "other.txt", "content": "new\n"}

    settled = approve(gate, edited_args=edit)

    assert settled.edited_args == edit
    assert settled.preimage.startswith("file:")
    assert settled.args_digest != gate.args_digest
    assert [row[0] for row in settled.evidence["diff"]] == ["-", "+"]


def test_an_edit_that_another_rule_gates_is_refused_and_the_gate_waits_on():
    strict = "- {id: all, tools: [edit_file], quorum: 2, when_args: [replace_all]}"
    text = make.manifest_text().replace("approvals:", f"approvals:\n    {strict}")
    put_manifest(principal=people.dora(), name="writer", text=text)
    run = make.run()
    make.workspace_of(run).workspace.replace("note.txt", b"old\n")
    args = {"path": "note.txt", "old_string": "old", "new_string": "new"}
    gate = make.gate(run, tool="edit_file", args=args)

    with pytest.raises(InvalidEdit, match="all gates the call"):
        approve(gate, edited_args={**args, "replace_all": True})

    assert Gate.objects.get().status == GateStatus.WAITING
    assert approve(gate, edited_args={**args, "new_string": "newer"}).status == GateStatus.ANSWERED


def test_the_same_edit_again_is_the_same_word_and_another_is_not():
    gate = make.gate()
    edit = {"path": "note.txt", "content": "new\n"}
    approve(gate, edited_args=edit)

    assert approve(gate, edited_args=edit).status == GateStatus.ANSWERED
    with pytest.raises(AlreadyDecided):
        approve(gate, edited_args={**edit, "content": "newer\n"})
    with pytest.raises(AlreadyDecided):
        approve(gate)


def test_a_denial_takes_no_edited_arguments():
    gate = make.gate()

    with pytest.raises(InvalidEdit):
        decide(principal=people.bob(), gate_id=gate.pk, word=Word(DENY, edited_args={}))


def test_a_note_has_4000_characters_at_most():
    gate = make.gate()

    with pytest.raises(InvalidInput):
        approve(gate, note="x" * 4001)
    assert approve(gate, note="x" * 4000).note == "x" * 4000


def test_a_viewer_lacks_the_scope():
    gate = make.gate()

    with pytest.raises(MissingScope):
        approve(gate, people.carol())


def test_a_strangers_gate_does_not_exist():
    gate = make.gate()

    with pytest.raises(NotFound):
        approve(gate, people.mallory())


def test_a_withdrawal_is_in_the_audit():
    gate = make.gate()
    make.workspace_of(gate.run).workspace.replace("note.txt", b"x")

    with pytest.raises(EvidenceChanged):
        approve(gate)

    assert AuditEvent.objects.filter(act="gate_withdrawn", subject=gate.pk).count() == 1
