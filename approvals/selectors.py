"""Reading gates.

Whether one waits is judged by the database's clock at every read (decisions 3.14).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KT

from approvals.core.gate import Contract, GateKind, GateStatus, GateView
from approvals.core.reviewing import Reviewer, Terms, why_not
from approvals.models import Decision, Gate
from felix_web.common.clock import epoch_ms, optional_ms
from felix_web.common.errors import NotFound
from felix_web.tenancy.auth import present_authority
from felix_web.tenancy.principal import Principal, identity_of
from felix_web.tenancy.scoping import database_now
from sessions.models import ThreadKind


def status_at(gate: Gate, now: datetime) -> GateStatus:
    """Return the gate's status, with a waiting one whose time is over as expired."""
    status = GateStatus(gate.status)
    return GateStatus.EXPIRED if status is GateStatus.WAITING and gate.expires_at <= now else status


def contract_of(gate: Gate) -> Contract:
    """Return what the gate's approval is bound to."""
    return Contract(
        tenant_id=gate.tenant_id,
        run_id=gate.run_id,
        call_id=gate.call_id,
        tool=gate.tool,
        args_digest=gate.args_digest,
        tool_digest=gate.tool_digest,
        manifest=gate.manifest,
        manifest_version=gate.manifest_version,
        preimage=gate.preimage,
        principal=gate.principal,
    )


def gate_view(gate: Gate, now: datetime) -> GateView:
    """Return the gate as the engine sees it."""
    return GateView(
        gate_id=gate.pk,
        call_id=gate.call_id,
        kind=GateKind(gate.kind),
        status=status_at(gate, now),
        contract=contract_of(gate),
        args=gate.args,
        rule_id=gate.rule_id,
        decided_by=gate.settled_by,
        note=gate.note,
        edited_args=gate.edited_args,
        is_spent=gate.spent_at is not None,
    )


def gates_of_run(*, run_id: str) -> list[GateView]:
    """Return the run's gates, oldest first."""
    rows = list(Gate.objects.filter(run_id=run_id).order_by("ordinal"))
    now = database_now() if rows else None
    return [gate_view(gate, now) for gate in rows if now is not None]


def reviewer_of(principal: Principal) -> Reviewer:
    """Return a caller as somebody who may decide."""
    return Reviewer(principal.identity, principal.role, principal.member_id is not None)


def terms_of(gate: Gate) -> Terms:
    """Return what the gate demands; its run and thread must be loaded."""
    run = gate.run
    starter = identity_of(run.member_id, run.key_id)
    return Terms(
        reviewers=tuple(gate.reviewers),
        quorum=gate.quorum,
        allow_self=gate.allow_self,
        starter=starter,
        owner=gate.thread.owner_identity,
    )


def standing_decisions(gate: Gate) -> list[Decision]:
    """Return the decisions that count now, oldest first: a word of one who has left, or may not
    decide the gate any more, does not. The gate's run and thread must be loaded.
    """
    rows = sorted(gate.decisions.all(), key=lambda row: row.pk)
    return [row for row in rows if _stands(row, terms_of(gate))]


def _stands(row: Decision, terms: Terms) -> bool:
    who = present_authority(
        member_id=row.member_id,
        key_id=row.key_id if row.member_id is None else None,
        scopes=frozenset({"*"}),
    )
    if who is None or not who.has("approvals:write"):
        return False
    return not why_not(terms, reviewer_of(who))


def _with_rows(rows: QuerySet[Gate]) -> QuerySet[Gate]:
    return rows.select_related("run", "thread").prefetch_related("decisions")


def gate_for(*, tenant_id: int, gate_id: str) -> Gate:
    """Return the tenant's gate with its run, thread and decisions.

    Raises:
        NotFound: the tenant has none with this id.
    """
    gate = _with_rows(Gate.objects.for_tenant(tenant_id)).filter(pk=gate_id).first()
    if gate is None:
        raise NotFound("There is no such gate.")
    return gate


def gates_page(
    *,
    tenant_id: int,
    status: GateStatus | None = None,
    thread: str | None = None,
    limit: int = 50,
    before: tuple[datetime, str] | None = None,
    with_evidence: bool = True,
) -> list[Gate]:
    """Return the tenant's gates, newest first, ties by id.

    One more than `limit` where there are more.

    Args:
        thread: The thread's id; None means all threads.
        before: (created_at, id) of the last row of the page before.
        with_evidence: See `waiting_gates`.
    """
    rows = _with_rows(Gate.objects.for_tenant(tenant_id)).order_by("-created_at", "-pk")
    if not with_evidence:
        rows = _light(rows)
    if thread is not None:
        rows = rows.filter(thread__suffix=thread, thread__kind=ThreadKind.CHAT)
    if status is not None:
        rows = _by_status(rows, status)
    if before is not None:
        moment, gate_id = before
        rows = rows.filter(created_at__lt=moment) | rows.filter(created_at=moment, pk__lt=gate_id)
    return list(rows[: limit + 1])


def _by_status(rows: QuerySet[Gate], status: GateStatus) -> QuerySet[Gate]:
    now = database_now()
    if status is GateStatus.WAITING:
        return rows.filter(status=status, expires_at__gt=now)
    if status is GateStatus.EXPIRED:
        lapsed = rows.filter(status=GateStatus.WAITING, expires_at__lte=now)
        return rows.filter(status=status) | lapsed
    return rows.filter(status=status)


MOST_WAITING = 200


def waiting_gates(*, tenant_id: int, with_evidence: bool = True) -> list[Gate]:
    """Return the tenant's waiting gates, nearest deadline first, at most `MOST_WAITING`.

    Args:
        with_evidence: False leaves evidence, but for its target, and arguments in the database, for
            lists and counts.
    """
    rows = _by_status(Gate.objects.for_tenant(tenant_id), GateStatus.WAITING)
    if not with_evidence:
        rows = _light(rows)
    return list(_with_rows(rows).order_by("expires_at", "pk")[:MOST_WAITING])


def gates_of_threads(*, thread_ids: Iterable[int]) -> list[Gate]:
    """Return the waiting gates of these threads without evidence, nearest deadline first."""
    rows = _by_status(Gate.objects.filter(thread_id__in=list(thread_ids)), GateStatus.WAITING)
    return list(_with_rows(_light(rows)).order_by("expires_at", "pk"))


def newest_gate_id(*, run_id: str, call_id: str) -> str:
    """Return the newest gate of a call: where it was asked again, the one that counts."""
    rows = Gate.objects.filter(run_id=run_id, call_id=call_id).order_by("-ordinal")
    return str(rows.values_list("pk", flat=True).first() or "")


def frame_gates(*, run_id: str, with_evidence: bool = True) -> list[Gate]:
    """Return all gates of a run with what their frames need, oldest first.

    Args:
        with_evidence: See `waiting_gates`.
    """
    rows: QuerySet[Gate] = Gate.objects.filter(run_id=run_id)
    if not with_evidence:
        rows = _light(rows)
    return list(_with_rows(rows).order_by("ordinal"))


REASONS = {
    "needs_a_member": "A member must decide this; this key has no owner.",
    "no_self_approval": "You started this run, and the rule wants another reviewer to decide.",
    "not_a_reviewer": "The rule names other reviewers.",
}


HEAVY = ("args", "edited_args", "evidence")


def _light(rows: QuerySet[Gate]) -> QuerySet[Gate]:
    """Return the gates without what can be large of them, but with what each is about."""
    return rows.defer(*HEAVY).annotate(about=KT("evidence__target"))


def heavy_parts(gate_ids: Iterable[str], names: Sequence[str] = HEAVY) -> dict[str, dict[str, Any]]:
    """Return, by gate, what was left in the database of gates that were read without it."""
    rows = Gate.objects.filter(pk__in=list(gate_ids)).values("pk", *names)
    return {row.pop("pk"): row for row in rows}


def _heavy(gate: Gate) -> dict[str, Any]:
    """Return what can be large of a gate; nothing of one that was read without it."""
    deferred = gate.get_deferred_fields()
    left_out = {"args": {}, "edited_args": None, "evidence": {"target": _about(gate)}}
    return {name: left_out[name] if name in deferred else getattr(gate, name) for name in HEAVY}


def _about(gate: Gate) -> str:
    return getattr(gate, "about", None) or ""


def _counted(gate: Gate) -> Iterable[Decision]:
    """Return what counts while a quorum is gathered; afterwards, what was said."""
    is_open = gate.status == GateStatus.WAITING and gate.quorum > 1
    return standing_decisions(gate) if is_open else gate.decisions.all()


def gate_json(gate: Gate, *, now: datetime, principal: Principal | None = None) -> dict[str, Any]:
    """Return the gate as its frame carries it (decisions 2.4).

    With a principal also whether that one may decide.
    """
    answer: dict[str, Any] = {
        "gate_id": gate.pk,
        "kind": gate.kind,
        "run_id": gate.run_id,
        "thread_id": None if gate.thread.kind == ThreadKind.EPHEMERAL else gate.thread.suffix,
        "call_id": gate.call_id,
        "tool": gate.tool,
        **_heavy(gate),
        "rule_id": gate.rule_id,
        "reason": gate.reason,
        "manifest": gate.manifest,
        "version": gate.manifest_version,
        "digest": gate.digest,
        "revision": gate.revision,
        "status": status_at(gate, now).value,
        "created_at": epoch_ms(gate.created_at),
        "expires_at": epoch_ms(gate.expires_at),
        "settled_at": optional_ms(gate.settled_at),
        "settled_because": gate.settled_because,
        "decided_by": gate.settled_by,
        "note": gate.note,
        "quorum": gate.quorum,
        "extendable": gate.extendable,
        "reviewers": gate.reviewers,
        "approvals": [
            {"by": row.name, "at": epoch_ms(row.created_at)}
            for row in _counted(gate)
            if row.decision == "approve"
        ],
    }
    if principal is not None:
        code = "" if principal.has("approvals:write") else "not_a_reviewer"
        code = code or why_not(terms_of(gate), reviewer_of(principal))
        answer["can_decide"] = not code and answer["status"] == GateStatus.WAITING
        answer["why_not"] = REASONS.get(code, "")
    return answer
