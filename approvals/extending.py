"""More time for a gate: who may decide it may move its deadline, where the rule lets."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import F

from approvals import errors
from approvals.core.gate import GateStatus
from approvals.core.reviewing import why_not
from approvals.deciding import REFUSALS
from approvals.models import Gate
from approvals.selectors import gate_for, reviewer_of, terms_of
from felix_web.audit.services import audit_row, record
from felix_web.common.clock import epoch_ms
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_scope
from sessions.bells import ring_thread
from sessions.services.runs import lock_run

EXTENSION = timedelta(minutes=15)


def extend_gate(*, principal: Principal, gate_id: str) -> Gate:
    """The gate waits 15 minutes longer, as far as its run lives; returns it as it is then.

    Raises:
        MissingScope, NotFound: as for a decision.
        NeedsAMember, NoSelfApproval, NotAReviewer: this one may not decide it.
        NotExtendable: the rule's limit is essential, or the run ends before.
        GateExpired: it waits no more.

    Locks: run, gate.
    """
    principal.need("approvals:write")
    with tenant_scope(principal.tenant_id):
        gate = gate_for(tenant_id=principal.tenant_id, gate_id=gate_id)
        lock_run(run_id=gate.run_id)
        gate = gate_for(tenant_id=principal.tenant_id, gate_id=gate_id)
        if may_not := why_not(terms_of(gate), reviewer_of(principal)):
            raise REFUSALS[may_not]()
        until = min(gate.expires_at + EXTENSION, gate.run.expires_at)
        if not gate.extendable or until <= gate.expires_at:
            raise errors.NotExtendable()
        waiting = Gate.objects.filter(
            pk=gate.pk, status=GateStatus.WAITING, expires_at__gt=database_now()
        )
        if not waiting.update(expires_at=until, revision=F("revision") + 1):
            raise errors.GateExpired()
        record(
            audit_row(
                tenant_id=gate.tenant_id,
                act="gate_extended",
                actor=principal.name,
                run_id=gate.run_id,
                subject=gate.pk,
                until=epoch_ms(until),
            )
        )
        ring_thread(gate.thread_id)
        return gate_for(tenant_id=principal.tenant_id, gate_id=gate_id)
