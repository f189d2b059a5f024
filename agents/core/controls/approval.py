"""Last control of the front half.

A person, where a rule says so, and only about what everything else allows (L7, L8).
"""

from __future__ import annotations

from agents.core.controls.base import Allow, Ask, Candidate, Deny, Later, Verdict
from agents.core.store import GrantView
from agents.core.tools.base import Evidence, Outcome, ToolFailed
from agents.core.tools.dispatch import present
from approvals.core.gate import Contract, GateDraft, GateKind, GateStatus, GateView
from approvals.core.rules import ApprovalRule, rule_for
from felix_web.common.digests import digest
from sessions.core.states import CallStatus, RunMode


def approval(candidate: Candidate) -> Verdict | None:
    """Let the call pass where no rule gates it or its approval holds; else ask, wait, or deny."""
    rule = rule_for(candidate.policy.rules, candidate.call.tool, candidate.args_json)
    gate = candidate.view.gates.get(candidate.call.call_id)
    if rule is None and gate is None:
        return None
    if gate is not None and (verdict := _settled(candidate, gate, rule)) is not None:
        return verdict
    if rule is None:
        return None
    try:
        # Who was asked in vain is asked again, whatever was granted meanwhile.
        if not candidate.view.asks_again(candidate.call):
            candidate.grant = _grant(candidate, rule)
        return _question(candidate, rule) if candidate.grant is None else Allow(candidate)
    except ToolFailed as error:
        return Deny(candidate, Outcome.failed(error.code, error.message))


def _question(candidate: Candidate, rule: ApprovalRule) -> Verdict:
    """Return how a person is asked about the call, or why not now, or not at all.

    Raises:
        ToolFailed: the call cannot be done as it is.
    """
    if not candidate.view.facts.is_attended and not rule.allow_unattended:
        text = f"Rule {rule.id} asks a person, and nobody attends this run. Not run."
        return Deny(candidate, Outcome(f"[error/denied] {text}", CallStatus.DENIED))
    if _depends_on_earlier(candidate):
        return Later(candidate)
    return Ask(candidate, _draft(candidate, rule))


def _settled(candidate: Candidate, gate: GateView, rule: ApprovalRule | None) -> Verdict | None:
    """Return what a gate of the call says, or None where it no longer counts: ask again."""
    match gate.status:
        case GateStatus.WAITING:
            return Later(candidate)
        case GateStatus.DENIED:
            said = f" Note: {gate.note}" if gate.note else ""
            who = gate.decided_by or "A reviewer"
            text = f"[error/denied] {who} denied this call. It was not run.{said}"
            return Deny(candidate, Outcome(text, CallStatus.DENIED))
        case GateStatus.EXPIRED:
            text = "[error/denied] Nobody decided in time: denied by time. The call was not run."
            return Deny(candidate, Outcome(text, CallStatus.DENIED))
        case GateStatus.WITHDRAWN:
            return None
        case GateStatus.ANSWERED:
            return _approved(candidate, gate, rule)


def _approved(candidate: Candidate, gate: GateView, rule: ApprovalRule | None) -> Verdict | None:
    """Return Allow where every part of the contract still holds, else None: ask again.

    An approval counts under the rule it was asked for: edited arguments may bring another one, with
    other reviewers.
    """
    if gate.is_spent or (rule is not None and rule.id != gate.rule_id):
        return None
    try:
        now = contract_of(
            candidate, principal=gate.contract.principal and candidate.view.facts.principal
        )
    except ToolFailed as error:
        return Deny(candidate, Outcome.failed(error.code, error.message))
    if now != gate.contract:
        return None
    candidate.gate = gate
    return Allow(candidate)


def contract_of(candidate: Candidate, *, principal: str, preimage: str | None = None) -> Contract:
    """Return what an approval of the call would be bound to, as the world is now.

    Args:
        preimage: Of the state that its evidence shows; None means it is read now.

    Raises:
        ToolFailed: the pre-image cannot be read.
    """
    tool, args, facts = candidate.tool, candidate.args, candidate.view.facts
    if preimage is None and tool.preimage is not None:
        preimage = tool.preimage(args, candidate.policy.context(candidate.call.call_id))
    return Contract(
        tenant_id=facts.tenant_id,
        run_id=facts.run_id,
        call_id=candidate.call.call_id,
        tool=tool.name,
        args_digest=digest(candidate.args_json),
        tool_digest=tool.digest,
        manifest=facts.manifest,
        manifest_version=facts.manifest_version,
        preimage=preimage or "",
        principal=principal,
    )


def _draft(candidate: Candidate, rule: ApprovalRule) -> GateDraft:
    facts = candidate.view.facts
    context = candidate.policy.context(candidate.call.call_id)
    shown = present(candidate.tool, candidate.args, context)
    evidence = shown.evidence or Evidence(title="What will run", target=candidate.target)
    principal = facts.principal if rule.bind_principal else ""
    return GateDraft(
        kind=GateKind.APPROVAL,
        contract=contract_of(candidate, principal=principal, preimage=shown.preimage),
        args=candidate.args_json,
        evidence=evidence.as_json(),
        rule_id=rule.id,
        reason=rule.description,
        ttl_seconds=rule.ttl(durable=facts.mode is RunMode.DURABLE),
        reviewers=rule.reviewers,
        quorum=rule.quorum,
        allow_self=rule.allow_self,
        extendable=rule.extendable,
        one_shot=rule.one_shot,
    )


def _grant(candidate: Candidate, rule: ApprovalRule) -> GrantView | None:
    """Return the standing permission that covers the call as the world is now.

    Raises:
        ToolFailed: the pre-image cannot be read.
    """
    if rule.one_shot:
        return None
    facts = candidate.view.facts
    same = [
        grant
        for grant in candidate.policy.grants
        if grant.tool == candidate.tool.name
        and grant.rule_id == rule.id
        and grant.principal == (facts.principal if rule.bind_principal else "")
    ]
    if not same:
        return None
    now = contract_of(candidate, principal="")
    bound = (now.args_digest, now.tool_digest, now.preimage)
    return next(
        (one for one in same if (one.args_digest, one.tool_digest, one.preimage) == bound), None
    )


def _depends_on_earlier(candidate: Candidate) -> bool:
    """Return whether an earlier unfinished call may change what a reviewer would see."""
    target = candidate.target if candidate.tool.preimage is not None else ""
    return bool(target) and any(
        other.target == target and not other.tool.read_only for other in candidate.ahead
    )
