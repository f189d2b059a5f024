"""*decide*, as a surface asks for it: an approval is taken on the world as it is now (L7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from django.db import IntegrityError

from agents.core.tools.base import Tool, ToolArgs, ToolContext, ToolFailed
from agents.core.tools.dispatch import present, validate
from agents.runtime import agent_tools, contexts_for
from agents.services.manifests import compiled_version, version_of
from approvals import errors
from approvals.core.gate import Contract, Decision, GateStatus
from approvals.core.rules import ApprovalRule, rule_for
from approvals.deciding import Edited, Said, counts, decide_gate
from approvals.models import Gate
from approvals.selectors import contract_of, gate_for, gate_json, status_at
from approvals.services import settle_gate, wake_when_settled
from felix_web.common.digests import digest as digest_of
from felix_web.common.errors import FelixError, InvalidInput
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_scope, tenant_snapshot
from sessions.services import idempotency
from sessions.services.runs import lock_run

LONGEST_NOTE = 4_000
BY_FELIX = "felix"


class EvidenceUnreadable(FelixError):
    """What the call would change cannot be read now; nothing was decided."""

    code: ClassVar[str] = "evidence_unreadable"
    title = "The evidence cannot be read"
    hint = "Try again, or deny the call."


SHOWS_THE_GATE = (
    errors.AlreadyDecided,
    errors.GateExpired,
    errors.GateWithdrawn,
    errors.StaleGate,
    errors.EvidenceChanged,
    EvidenceUnreadable,
)


@dataclass(frozen=True, slots=True)
class Word:
    """What a reviewer sends.

    Attributes:
        edited_args: Arguments to run instead of the model's, with an approval only.
        digest: What the card showed, as `revision`; None where it showed none.
        key: The Idempotency-Key, or "".
    """

    decision: Decision
    note: str = ""
    edited_args: dict[str, Any] | None = None
    digest: str | None = None
    revision: int | None = None
    key: str = ""

    def fingerprint(self, gate_id: str) -> str:
        """Return the digest of what a key stands for."""
        return digest_of([gate_id, self.decision.value, self.note, self.edited_args])


@dataclass(frozen=True, slots=True)
class _Bench:
    """What the gate's call would run with: its tool as this build has it, its context, and the
    rules of its agent.
    """

    tool: Tool | None
    context: ToolContext
    rules: Sequence[ApprovalRule]


def decide(*, principal: Principal, gate_id: str, word: Word) -> Gate:
    """The word is recorded, and the gate settled where that is enough; returns the gate then.

    An approval is taken only where the tool, the arguments and what the call would change are
    still what the gate shows. Where they are not, the gate is withdrawn and the run asks again.

    Raises:
        MissingScope: the caller lacks approvals:write.
        NotFound: the tenant has no such gate.
        InvalidInput: the note is too long; InvalidEdit: the edited arguments do not fit the tool.
        NeedsAMember, NoSelfApproval, NotAReviewer: this one may not decide it.
        IdempotencyKeyReused: the key belongs to another word.
        AlreadyDecided, GateExpired, GateWithdrawn, StaleGate, EvidenceChanged,
            EvidenceUnreadable: nothing was decided; `fields["gate"]` is the gate as it is now.
    """
    principal.need("approvals:write")
    _check_form(word)
    if word.key:
        _check_key(principal, gate_id, word)
    try:
        return _decide(principal, gate_id, word)
    except SHOWS_THE_GATE as error:
        error.fields["gate"] = _shown(principal, gate_id)
        raise


def _check_form(word: Word) -> None:
    if len(word.note) > LONGEST_NOTE:
        raise InvalidInput(f"note: at most {LONGEST_NOTE} characters.")
    if word.edited_args is not None and word.decision is Decision.DENY:
        raise errors.InvalidEdit("A denial takes no edited arguments.")


def _check_key(principal: Principal, gate_id: str, word: Word) -> None:
    idempotency.check_key(word.key)
    idempotency.known_run(
        principal=principal,
        message_key=word.key,
        fingerprint=word.fingerprint(gate_id),
        space=idempotency.DECIDE,
    )


def _decide(principal: Principal, gate_id: str, word: Word) -> Gate:
    gate = _read(principal, gate_id)
    plain = Said(word.decision, word.note, word.digest, word.revision)
    if word.decision is Decision.DENY:
        return _record(principal, gate, plain, word)
    bench = _bench_of(gate, tenant_slug=principal.tenant_slug)
    said = plain
    if word.edited_args is not None:
        said = replace(plain, edited=_edited(gate, bench, word.edited_args))
    with tenant_snapshot(principal.tenant_id):
        would_count = counts(_loaded(principal, gate_id), principal, said)
    if would_count and _contract_now(gate, bench) != contract_of(gate):
        _ask_again(principal, gate_id)
        raise errors.EvidenceChanged()
    return _record(principal, gate, said, word)


def _read(principal: Principal, gate_id: str) -> Gate:
    with tenant_snapshot(principal.tenant_id):
        return _loaded(principal, gate_id)


def _loaded(principal: Principal, gate_id: str) -> Gate:
    return gate_for(tenant_id=principal.tenant_id, gate_id=gate_id)


def _record(principal: Principal, gate: Gate, said: Said, word: Word) -> Gate:
    """Decision and key are one transaction: a refused word leaves its key free (L10)."""
    if not word.key:
        return decide_gate(principal=principal, gate_id=gate.pk, said=said)
    try:
        with tenant_scope(principal.tenant_id):
            settled = decide_gate(principal=principal, gate_id=gate.pk, said=said)
            _claim_key(principal, gate, word)
            return settled
    except IntegrityError:
        # Another request with this key committed first: with the same word, or it is refused here.
        _check_key(principal, gate.pk, word)
        return decide_gate(principal=principal, gate_id=gate.pk, said=said)


def _claim_key(principal: Principal, gate: Gate, word: Word) -> None:
    fingerprint = word.fingerprint(gate.pk)
    known = idempotency.known_run(
        principal=principal,
        message_key=word.key,
        fingerprint=fingerprint,
        space=idempotency.DECIDE,
    )
    if known is None:
        idempotency.claim_key(
            principal=principal,
            key=word.key,
            fingerprint=fingerprint,
            run=gate.run,
            space=idempotency.DECIDE,
        )


def _bench_of(gate: Gate, *, tenant_slug: str) -> _Bench:
    run, thread = gate.run, gate.thread
    agent = compiled_version(
        version_of(tenant_id=run.tenant_id, name=run.manifest, number=run.manifest_version)
    )
    contexts = contexts_for(
        agent=agent,
        tenant_id=run.tenant_id,
        tenant_slug=tenant_slug,
        thread=thread.suffix,
        thread_id=thread.pk,
    )
    return _Bench(agent_tools(agent).get(gate.tool), contexts(gate.call_id), agent.rules)


def _contract_now(gate: Gate, bench: _Bench) -> Contract | None:
    """Return what an approval of the gate's call would be bound to as the world is now; None: it
    cannot be made.

    Raises:
        EvidenceUnreadable: what the call would change cannot be read.
    """
    tool = bench.tool
    if tool is None:
        return None
    try:
        args = validate(tool, gate.args)
    except ToolFailed:
        return None
    return replace(
        contract_of(gate),
        args_digest=_args_digest(args),
        tool_digest=tool.digest,
        preimage=_preimage(tool, args, bench.context),
    )


def _args_digest(args: ToolArgs) -> str:
    return digest_of(args.model_dump(exclude_unset=True))


def _preimage(tool: Tool, args: ToolArgs, context: ToolContext) -> str:
    if tool.preimage is None:
        return ""
    try:
        return tool.preimage(args, context)
    except (ToolFailed, OSError):
        raise EvidenceUnreadable() from None


def _edited(gate: Gate, bench: _Bench, edited_args: dict[str, Any]) -> Edited:
    """Return the reviewer's arguments with what an approval of them is bound to, as the world is
    now.

    Raises:
        InvalidEdit: they do not fit the tool, the call could not be done with them, or another rule
            gates it then.
        EvidenceUnreadable: what they would change cannot be read.
    """
    tool = bench.tool
    if status_at(gate, database_now()) is not GateStatus.WAITING:
        # Only compared with what was decided: the call may have run since.
        return Edited(edited_args, contract_of(gate), gate.evidence)
    if tool is None:
        raise errors.InvalidEdit(f"The agent has no tool {gate.tool} any more.")
    try:
        args = validate(tool, edited_args)
        looked = present(tool, args, bench.context)
    except ToolFailed as error:
        raise errors.InvalidEdit(error.message) from None
    except OSError:
        raise EvidenceUnreadable() from None
    given = args.model_dump(exclude_unset=True)
    _check_rule(gate, bench, given)
    contract = replace(
        contract_of(gate),
        args_digest=digest_of(given),
        tool_digest=tool.digest,
        preimage=looked.preimage or "",
    )
    evidence = gate.evidence if looked.evidence is None else looked.evidence.as_json()
    return Edited(given, contract, evidence)


def _check_rule(gate: Gate, bench: _Bench, args: dict[str, Any]) -> None:
    """Return unless the edited call is gated by another rule: its reviewers have not seen it.

    Raises:
        InvalidEdit: it is.
    """
    rule = rule_for(bench.rules, gate.tool, args)
    if rule is not None and rule.id != gate.rule_id:
        raise errors.InvalidEdit(
            f"With these arguments the rule {rule.id} gates the call, and this gate is of the rule "
            f"{gate.rule_id}. Deny it with a note, so that the agent proposes the call itself."
        )


def _ask_again(principal: Principal, gate_id: str) -> None:
    """The gate is withdrawn and its run goes on, to ask anew; a gate settled meanwhile stays as it
    is.

    Locks: run, gate.
    """
    with tenant_scope(principal.tenant_id):
        run_id = _loaded(principal, gate_id).run_id
        lock_run(run_id=run_id)
        gate = _loaded(principal, gate_id)
        settle_gate(gate=gate, status=GateStatus.WITHDRAWN, by=BY_FELIX, because="evidence_changed")
        wake_when_settled(run_id=run_id)


def _shown(principal: Principal, gate_id: str) -> dict[str, Any]:
    with tenant_snapshot(principal.tenant_id):
        gate = _loaded(principal, gate_id)
        return gate_json(gate, now=database_now(), principal=principal)
