"""Writes of gates. Every caller holds the run's row first (lock order.

Run, thread, gate, audit).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Exists, Max, OuterRef

from approvals.core.gate import GateDraft, GateStatus
from approvals.models import Gate
from felix_web.audit.models import AuditEvent
from felix_web.audit.services import audit_row, record
from felix_web.tenancy.scoping import database_now
from sessions.bells import ring_thread
from sessions.core.events import EventKind
from sessions.models import Event, Run
from sessions.services.runs import wake_run

BY_TIME = "felix"


def open_gates(*, run: Run, drafts: Sequence[GateDraft], ids: Sequence[str]) -> None:
    """Each draft's gate is open, in this order; a call that has a waiting one keeps it.

    Locks: the run's row, held by the caller.
    """
    now = database_now()
    calls = [draft.contract.call_id for draft in drafts]
    waiting = set(
        Gate.objects.filter(
            run_id=run.pk, call_id__in=calls, status=GateStatus.WAITING
        ).values_list("call_id", flat=True)
    )
    known = Gate.objects.filter(run_id=run.pk).aggregate(last=Max("ordinal"))["last"] or 0
    fresh = [
        _row(run, draft, gate_id, known + place, now + timedelta(microseconds=place))
        for place, (draft, gate_id) in enumerate(zip(drafts, ids, strict=True), 1)
        if draft.contract.call_id not in waiting
    ]
    Gate.objects.bulk_create(fresh)
    record(*[_opened(gate) for gate in fresh])
    ring_thread(run.thread_id)


def _row(run: Run, draft: GateDraft, gate_id: str, ordinal: int, now: datetime) -> Gate:
    contract = draft.contract
    return Gate(
        id=gate_id,
        tenant_id=run.tenant_id,
        kind=draft.kind.value,
        run_id=run.pk,
        thread_id=run.thread_id,
        ordinal=ordinal,
        call_id=contract.call_id,
        tool=contract.tool,
        args=draft.args,
        args_digest=contract.args_digest,
        tool_digest=contract.tool_digest,
        manifest=contract.manifest,
        manifest_version=contract.manifest_version,
        preimage=contract.preimage,
        principal=contract.principal,
        digest=contract.digest,
        evidence=draft.evidence,
        rule_id=draft.rule_id,
        reason=draft.reason,
        reviewers=list(draft.reviewers),
        quorum=draft.quorum,
        allow_self=draft.allow_self,
        extendable=draft.extendable,
        one_shot=draft.one_shot,
        created_at=now,
        expires_at=min(now + timedelta(seconds=draft.ttl_seconds), run.expires_at),
    )


def _opened(gate: Gate) -> AuditEvent:
    return audit_row(
        tenant_id=gate.tenant_id,
        act="gate_opened",
        run_id=gate.run_id,
        subject=gate.pk,
        tool=gate.tool,
        rule=gate.rule_id,
        digest=gate.digest,
    )


def settle_gate(*, gate: Gate, status: GateStatus, by: str, because: str, note: str = "") -> bool:
    """The waiting gate is settled; returns False, and changes nothing, where it waits no more.

    A gate can only be answered or denied before its deadline, by the database's clock in the same
    statement.
    """
    now = database_now()
    rows = Gate.objects.filter(pk=gate.pk, status=GateStatus.WAITING, revision=gate.revision)
    if status in (GateStatus.ANSWERED, GateStatus.DENIED):
        rows = rows.filter(expires_at__gt=now)
    if status is GateStatus.EXPIRED:
        rows = rows.filter(expires_at__lte=now)
    changed = rows.update(
        status=status,
        revision=gate.revision + 1,
        settled_at=now,
        settled_by=by,
        settled_because=because,
        note=note,
    )
    if changed:
        record(
            audit_row(
                tenant_id=gate.tenant_id,
                act=f"gate_{status.value}",
                actor=by,
                run_id=gate.run_id,
                subject=gate.pk,
                because=because,
                digest=gate.digest,
            )
        )
        ring_thread(gate.thread_id)
    return bool(changed)


def withdraw_gates(*, run_id: str, because: str) -> int:
    """No gate of the run waits any more; returns how many did."""
    gates = list(Gate.objects.filter(run_id=run_id, status=GateStatus.WAITING).order_by("pk"))
    return sum(
        settle_gate(gate=gate, status=GateStatus.WITHDRAWN, by=BY_TIME, because=because)
        for gate in gates
    )


def expire_gates(*, run_id: str) -> int:
    """The run's gates whose time is over are expired: denied by time. Returns how many were."""
    lapsed = Gate.objects.filter(
        run_id=run_id, status=GateStatus.WAITING, expires_at__lte=database_now()
    )
    return sum(
        settle_gate(gate=gate, status=GateStatus.EXPIRED, by=BY_TIME, because="deadline")
        for gate in lapsed.order_by("pk")
    )


def has_waiting_gate(*, run_id: str) -> bool:
    """Return whether a gate of the run waits and still has time."""
    return Gate.objects.filter(
        run_id=run_id, status=GateStatus.WAITING, expires_at__gt=database_now()
    ).exists()


def asks_again(*, run_id: str) -> bool:
    """Return whether an open call's newest gate was withdrawn: its driver has to ask anew, whatever
    else waits.
    """
    same_call = Gate.objects.filter(run_id=OuterRef("run_id"), call_id=OuterRef("call_id"))
    newer = same_call.filter(ordinal__gt=OuterRef("ordinal"))
    ended = Event.objects.filter(
        thread_id=OuterRef("thread_id"),
        branch=OuterRef("run__branch"),
        call_id=OuterRef("call_id"),
        kind=EventKind.TOOL_RESULT.value,
    )
    withdrawn = Gate.objects.filter(run_id=run_id, status=GateStatus.WITHDRAWN)
    return withdrawn.exclude(Exists(newer)).exclude(Exists(ended)).exists()


def may_park(*, run_id: str) -> bool:
    """Return whether the run waits for somebody, and its driver has nothing to ask.

    Locks: the run's row, held by the caller, so that a park and a decision cannot miss each other.
    """
    return has_waiting_gate(run_id=run_id) and not asks_again(run_id=run_id)


def wake_when_settled(*, run_id: str) -> bool:
    """A waiting run that may not stay parked is queued; returns whether it was.

    Locks: the run's row, held by the caller, so that a park and a decision cannot miss each other.
    """
    return not may_park(run_id=run_id) and wake_run(run_id=run_id)


def spend_gate(*, gate_id: str) -> bool:
    """The approval is used up by the execution about to begin.

    False where it was used or no longer holds.
    """
    rows = Gate.objects.filter(pk=gate_id, status=GateStatus.ANSWERED, spent_at=None)
    return bool(rows.update(spent_at=database_now()))
