"""Taking a run and reading all a driver needs of it, in two transactions."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import F

from agents.core.limits import Limits
from agents.core.store import GrantView, LeaseLost, Loaded
from agents.core.view import RunFacts
from agents.services.closing import close_run, stop_run
from agents.services.driving import Claim
from approvals.grants import live_grants
from approvals.models import Grant
from approvals.selectors import gates_of_run
from approvals.services import expire_gates
from felix_web.tenancy.auth import present_authority
from felix_web.tenancy.principal import identity_of
from felix_web.tenancy.scoping import system_scope, tenant_scope, tenant_snapshot
from sessions.core.states import RunMode, RunStatus, StopReason
from sessions.models import Run
from sessions.selectors import branch_events, branch_of
from sessions.services.runs import MAX_FRUITLESS_CLAIMS, claim_run, end_run, hold_run

AUTHORITY_GONE = "authority_gone"
NO_AUTHORITY = "Whoever started this run has left, or may not start runs any more."


@dataclass(frozen=True, slots=True)
class Claimed:
    """A run somebody drives from now on, and its row as it was claimed."""

    claim: Claim
    run: Run


def take_run(*, run_id: str, owner: str, lease_seconds: float) -> Claimed | None:
    """*claim*: the run is the owner's under a new fence.

    None where it is not to be had, or may not go on.

    A run whose starter has left, or may not start runs any more, is stopped; one that was claimed
    too often without a step has failed as `dead`.
    """
    with system_scope():
        run = claim_run(run_id=run_id, owner=owner, lease_seconds=lease_seconds)
        if run is None:
            return None
        refused = _refusal(run)
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


def has_authority(run: Run) -> bool:
    """Return whether the run's starter is still here and may still start runs (decisions 3.11)."""
    starter = present_authority(
        member_id=run.member_id, key_id=run.key_id, scopes=frozenset(run.scopes)
    )
    return starter is not None and starter.may_send


def stop_for_want_of_authority(run: Run) -> None:
    """The run is stopped: nobody stands behind it any more.

    Locks: the run's row, held by the caller; takes the thread's.
    """
    stop_run(
        run,
        because=AUTHORITY_GONE,
        status=RunStatus.STOPPED,
        stop_reason=StopReason.ERROR,
        reason=AUTHORITY_GONE,
        error={"code": AUTHORITY_GONE, "message": NO_AUTHORITY},
    )


def _refusal(run: Run) -> tuple[RunStatus, str, str] | None:
    if not has_authority(run):
        return RunStatus.STOPPED, AUTHORITY_GONE, NO_AUTHORITY
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


def load_run(*, claimed: Claimed, limits: Limits, shares_files: bool = False) -> Loaded:
    """Return the claimed run as it is stored: its branch, gates and grants, read at one moment.

    Args:
        shares_files: Other threads work on the same files, so that their grants hold here too.

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
            tenant_id=claim.tenant_id,
            manifest=run.manifest,
            version=run.manifest_version,
            thread_id=None if shares_files else claim.thread_id,
        )
    return Loaded(
        facts=_facts(run, claim, limits),
        events=events,
        gates=gates,
        grants=tuple(_grant_view(row) for row in grants),
    )


def _grant_view(row: Grant) -> GrantView:
    return GrantView(
        grant_id=row.pk,
        gate_id=row.gate_id,
        rule_id=row.rule_id,
        tool=row.tool,
        args_digest=row.args_digest,
        tool_digest=row.tool_digest,
        preimage=row.preimage,
        principal=row.principal,
        granted_by=row.granted_by,
    )


def _facts(run: Run, claim: Claim, limits: Limits) -> RunFacts:
    principal = identity_of(run.member_id, run.key_id)
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
