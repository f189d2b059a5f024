"""Taking a run and reading all a driver needs of it, in two transactions."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import F

from agents.core.limits import Limits
from agents.core.store import GrantView, LeaseLost, Loaded
from agents.core.view import RunFacts
from agents.services.closing import close_run
from agents.services.driving import Claim
from approvals.selectors import gates_of_run, live_grants
from approvals.services import expire_gates
from felix_web.tenancy.auth import present_authority
from felix_web.tenancy.scoping import system_scope, tenant_scope, tenant_snapshot
from sessions.core.states import RunMode, RunStatus, StopReason
from sessions.models import Run
from sessions.selectors import branch_events, branch_of
from sessions.services.runs import MAX_FRUITLESS_CLAIMS, claim_run, end_run, hold_run


@dataclass(frozen=True, slots=True)
class Claimed:
    """A run somebody drives from now on, and its row as it was claimed."""

    claim: Claim
    run: Run


def take_run(*, run_id: str, owner: str, lease_seconds: float) -> Claimed | None:
    """*claim*: the run is the owner's under a new fence.

    None where it is not to be had, or may not go on.

    A run whose starter has left is stopped; one that was claimed too often without a step has
    failed as `dead`.
    """
    with system_scope():
        run = claim_run(run_id=run_id, owner=owner, lease_seconds=lease_seconds)
        if run is None:
            return None
        starter = present_authority(
            member_id=run.member_id, key_id=run.key_id, scopes=frozenset(run.scopes)
        )
        refused = _refusal(run, has_starter=starter is not None)
        if refused is not None:
            _give_up(run, *refused)
            return None
    claim = Claim(
        run_id=run.pk,
        tenant_id=run.tenant_id,
        thread_id=run.thread_id,
        branch=run.branch,
        leaf_epoch=run.leaf_epoch,
        fence=run.fence,
    )
    return Claimed(claim, run)


def _refusal(run: Run, *, has_starter: bool) -> tuple[RunStatus, str, str] | None:
    if not has_starter:
        return (
            RunStatus.STOPPED,
            "authority_gone",
            "Whoever started this run is no member any more.",
        )
    if run.fruitless_claims > MAX_FRUITLESS_CLAIMS:
        text = f"{MAX_FRUITLESS_CLAIMS} workers in a row took this run and none got a step further."
        return RunStatus.FAILED, "dead", text
    return None


def _give_up(run: Run, status: RunStatus, reason: str, message: str) -> None:
    end_run(
        run_id=run.pk,
        status=status,
        stop_reason=StopReason.ERROR,
        reason=reason,
        error={"code": reason, "message": message},
    )
    close_run(run, because=reason, status=status, stop_reason=StopReason.ERROR, reason=reason)


def load_run(*, claimed: Claimed, limits: Limits) -> Loaded:
    """Return the claimed run as it is stored: its branch, gates and grants, read at one moment.

    Raises:
        LeaseLost: it is another's by now. If that one parked it, gates settled here would wake
            nobody.

    Locks: the run's row, while gates whose time is over are settled.
    """
    run, claim = claimed.run, claimed.claim
    with tenant_scope(claim.tenant_id):
        # Reading is no progress: the count of fruitless claims stays.
        fruitless = F("fruitless_claims")
        if not hold_run(run_id=claim.run_id, fence=claim.fence, fruitless_claims=fruitless):
            raise LeaseLost()
        expire_gates(run_id=claim.run_id)
    with tenant_snapshot(claim.tenant_id):
        branch = branch_of(thread_id=claim.thread_id, number=claim.branch)
        events = tuple(branch_events(branch))
        gates = tuple(gates_of_run(run_id=claim.run_id))
        grants = live_grants(
            tenant_id=claim.tenant_id, manifest=run.manifest, version=run.manifest_version
        )
    return Loaded(
        facts=_facts(run, claim, limits),
        events=events,
        gates=gates,
        grants=tuple(
            GrantView(row.pk, row.tool, row.args_digest, row.tool_digest, row.principal)
            for row in grants
        ),
    )


def _facts(run: Run, claim: Claim, limits: Limits) -> RunFacts:
    principal = f"member:{run.member_id}" if run.member_id is not None else f"key:{run.key_id}"
    return RunFacts(
        run_id=run.pk,
        tenant_id=run.tenant_id,
        tenant_slug=run.tenant.slug,
        thread=run.thread.suffix,
        thread_pk=run.thread_id,
        branch=run.branch,
        fence=run.fence,
        manifest=run.manifest,
        manifest_version=run.manifest_version,
        mode=RunMode(run.mode),
        is_attended=run.is_attended,
        principal=principal,
        limits=limits,
        active_ms=run.active_ms,
        cache_key=f"felix-{run.tenant_id}-{run.thread_id}-{run.branch}",
    )
