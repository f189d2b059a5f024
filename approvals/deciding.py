"""The decision.

One transaction that says whose word counts, and wakes the run (decisions 3.4, *decide*).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from approvals import errors
from approvals.core.gate import Contract, Decision, GateStatus
from approvals.core.reviewing import outcome, why_not
from approvals.grants import mint_grant
from approvals.models import Decision as DecisionRow
from approvals.models import Gate
from approvals.selectors import gate_for, reviewer_of, standing_decisions, status_at, terms_of
from approvals.services import settle_gate, wake_when_settled
from felix_web.audit.services import audit_row, record
from felix_web.common.errors import FelixError
from felix_web.common.faults import reach
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_scope
from sessions.bells import ring_thread
from sessions.services.runs import lock_run

REFUSALS: dict[str, type[FelixError]] = {
    "needs_a_member": errors.NeedsAMember,
    "no_self_approval": errors.NoSelfApproval,
    "not_a_reviewer": errors.NotAReviewer,
}


@dataclass(frozen=True, slots=True)
class Edited:
    """A reviewer's arguments in place of the model's, and what an approval of them is bound to."""

    args: dict[str, Any]
    contract: Contract
    evidence: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """One reviewer's word. `digest` and `revision` are what the card showed.

    None where the caller showed none.
    """

    decision: Decision
    note: str = ""
    digest: str | None = None
    revision: int | None = None
    edited: Edited | None = None


def decide_gate(*, principal: Principal, gate_id: str, said: Said) -> Gate:
    """The word is recorded, and the gate settled where that is enough.

    Returns the gate as it is then.

    The same word again changes nothing. First wins.

    Raises:
        NotFound: the tenant has no such gate.
        AlreadyDecided, GateExpired, GateWithdrawn: it was settled otherwise before.
        StaleGate: digest or revision are not the gate's.
        NeedsAMember, NoSelfApproval, NotAReviewer: this one may not decide it.
        InvalidEdit: arguments were edited though more than one member must approve.

    Locks: run, gate.
    """
    with tenant_scope(principal.tenant_id):
        gate = gate_for(tenant_id=principal.tenant_id, gate_id=gate_id)
        lock_run(run_id=gate.run_id)
        gate = gate_for(tenant_id=principal.tenant_id, gate_id=gate_id)
        if not counts(gate, principal, said):
            return gate
        is_new = _say(gate, principal, said)
        reach("deciding")
        _settle(gate, principal, said, is_new=is_new)
        return gate_for(tenant_id=principal.tenant_id, gate_id=gate_id)


def counts(gate: Gate, principal: Principal, said: Said) -> bool:
    """Return whether the word would be taken now; False where the gate was settled with this very
    word.

    Raises: what `decide_gate` raises for a word that is not taken.
    """
    if may_not := why_not(terms_of(gate), reviewer_of(principal)):
        raise REFUSALS[may_not]()
    if _is_settled(gate, said):
        return False
    _check_shown(gate, said)
    if said.edited is not None and gate.quorum > 1:
        # Those who approved before would stand for arguments they never saw.
        text = f"{gate.quorum} members must approve this very call. Deny it with a note instead."
        raise errors.InvalidEdit(text)
    return True


def _is_settled(gate: Gate, said: Said) -> bool:
    """Return True where the gate was settled with this very word.

    Raise where it was settled otherwise.
    """
    match status_at(gate, database_now()):
        case GateStatus.WAITING:
            return False
        case GateStatus.EXPIRED:
            raise errors.GateExpired()
        case GateStatus.WITHDRAWN:
            raise errors.GateWithdrawn()
        case GateStatus.ANSWERED if said.decision is Decision.APPROVE:
            if gate.edited_args == (said.edited.args if said.edited else None):
                return True
            raise errors.AlreadyDecided(f"{gate.settled_by} approved other arguments before.")
        case GateStatus.DENIED if said.decision is Decision.DENY:
            return True
        case _:
            raise errors.AlreadyDecided(f"{gate.settled_by} decided this gate before.")


def _check_shown(gate: Gate, said: Said) -> None:
    if said.digest is not None and said.digest != gate.digest:
        raise errors.StaleGate()
    if said.revision is not None and said.revision != gate.revision:
        raise errors.StaleGate()


def _say(gate: Gate, principal: Principal, said: Said) -> bool:
    """The member's word stands, and a second, different one is refused; returns whether it is
    new.
    """
    before = gate.decisions.filter(identity=principal.identity).first()
    if before is not None:
        if before.decision == said.decision.value:
            return False
        raise errors.AlreadyDecided("You decided this gate before.")
    DecisionRow.objects.create(
        tenant_id=gate.tenant_id,
        gate=gate,
        member_id=principal.member_id,
        key_id=principal.key_id,
        identity=principal.identity,
        name=principal.name,
        via=principal.via,
        decision=said.decision.value,
        note=said.note,
        edited_args=said.edited.args if said.edited else None,
        digest=said.edited.contract.digest if said.edited else gate.digest,
    )
    return True


def _record_vote(gate: Gate, principal: Principal) -> None:
    record(
        audit_row(
            tenant_id=gate.tenant_id,
            act="gate_approved_in_part",
            actor=principal.name,
            run_id=gate.run_id,
            subject=gate.pk,
            digest=gate.digest,
        )
    )


def _settle(gate: Gate, principal: Principal, said: Said, *, is_new: bool) -> None:
    gate = gate_for(tenant_id=gate.tenant_id, gate_id=gate.pk)  # with the word just said
    words = [Decision(row.decision) for row in standing_decisions(gate)]
    status = outcome(gate.quorum, words)
    if status is GateStatus.WAITING:
        if is_new:
            _record_vote(gate, principal)
            ring_thread(gate.thread_id)
        return
    if status is GateStatus.ANSWERED and said.edited is not None:
        _bind_edit(gate, said.edited)
    because = "edited" if said.edited and status is GateStatus.ANSWERED else "decided"
    if not settle_gate(
        gate=gate, status=status, by=principal.name, because=because, note=said.note
    ):
        raise errors.GateExpired()
    if status is GateStatus.ANSWERED and not gate.one_shot:
        mint_grant(gate=gate, by=principal.name)
    wake_when_settled(run_id=gate.run_id)


def _bind_edit(gate: Gate, edited: Edited) -> None:
    """The approval is bound to the edited call: its arguments, and what they would change."""
    gate.args_digest, gate.preimage = edited.contract.args_digest, edited.contract.preimage
    gate.digest = edited.contract.digest
    Gate.objects.filter(pk=gate.pk).update(
        edited_args=edited.args,
        args_digest=gate.args_digest,
        preimage=gate.preimage,
        digest=gate.digest,
        evidence=edited.evidence,
    )
