"""Reading gates.

Whether one waits is judged by the database's clock at every read (decisions 3.14).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from approvals.core.gate import Contract, GateKind, GateStatus, GateView
from approvals.core.reviewing import Reviewer, Terms, why_not
from approvals.models import Gate, Grant
from felix_web.common.clock import epoch_ms, optional_ms
from felix_web.common.errors import NotFound
from felix_web.tenancy.principal import Principal
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
    rows = list(Gate.objects.filter(run_id=run_id).order_by("created_at", "pk"))
    now = database_now() if rows else None
    return [gate_view(gate, now) for gate in rows if now is not None]


def live_grants(*, tenant_id: int, manifest: str, version: int) -> list[Grant]:
    """Return the standing permissions of a manifest's version, newest first."""
    return list(
        Grant.objects.for_tenant(tenant_id)
        .filter(
            manifest=manifest,
            manifest_version=version,
            revoked_at=None,
            expires_at__gt=database_now(),
        )
        .order_by("-created_at", "-pk")
    )


def reviewer_of(principal: Principal) -> Reviewer:
    """Return a caller as somebody who may decide."""
    return Reviewer(principal.identity, principal.role, principal.member_id is not None)


def terms_of(gate: Gate) -> Terms:
    """Return what the gate demands; its run and thread must be loaded."""
    run = gate.run
    starter = f"member:{run.member_id}" if run.member_id is not None else f"key:{run.key_id}"
    return Terms(
        reviewers=tuple(gate.reviewers),
        quorum=gate.quorum,
        allow_self=gate.allow_self,
        starter=starter,
        owner=gate.thread.owner_identity,
    )


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
) -> list[Gate]:
    """Return the tenant's gates, newest first, ties by id.

    One more than `limit` where there are more.

    Args:
        thread: The thread's id; None means all threads.
        before: (created_at, id) of the last row of the page before.
    """
    rows = _with_rows(Gate.objects.for_tenant(tenant_id)).order_by("-created_at", "-pk")
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
        with_evidence: False leaves evidence and arguments in the database, for lists and counts.
    """
    rows = _by_status(Gate.objects.for_tenant(tenant_id), GateStatus.WAITING)
    if not with_evidence:
        rows = rows.defer(*HEAVY)
    return list(_with_rows(rows).order_by("expires_at", "pk")[:MOST_WAITING])


def gates_of_threads(*, thread_ids: Iterable[int]) -> list[Gate]:
    """Return the waiting gates of these threads, nearest deadline first."""
    rows = _by_status(Gate.objects.filter(thread_id__in=list(thread_ids)), GateStatus.WAITING)
    return list(_with_rows(rows).order_by("expires_at", "pk"))


def frame_gates(*, run_id: str) -> list[Gate]:
    """Return all gates of a run with what their frames need, oldest first."""
    return list(_with_rows(Gate.objects.filter(run_id=run_id)).order_by("created_at", "pk"))


REASONS = {
    "needs_a_member": "This gate counts members; this key has no owner.",
    "no_self_approval": "You started this run, and the rule wants another reviewer to decide.",
    "not_a_reviewer": "The rule names other reviewers.",
}


HEAVY = ("args", "edited_args", "evidence")


def _heavy(gate: Gate) -> dict[str, Any]:
    """Return what can be large of a gate; nothing of one that was read without it."""
    deferred = gate.get_deferred_fields()
    return {name: {} if name in deferred else getattr(gate, name) for name in HEAVY}


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
            for row in gate.decisions.all()
            if row.decision == "approve"
        ],
    }
    if principal is not None:
        code = "" if principal.has("approvals:write") else "not_a_reviewer"
        code = code or why_not(terms_of(gate), reviewer_of(principal))
        answer["can_decide"] = not code and answer["status"] == GateStatus.WAITING
        answer["why_not"] = REASONS.get(code, "")
    return answer
