"""The driver's transactions (decisions 3.4) on the tables.

Answer, ask, park, start, result, finish.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Q

from agents.core.loop import Finish
from agents.core.store import CallClosed, GateSpent, LeaseLost, Metered, Start
from agents.services.closing import close_open_calls
from approvals.core.gate import GateDraft
from approvals.grants import holds_grant
from approvals.services import (
    expire_gates,
    may_park,
    open_gates,
    spend_gate,
    withdraw_gates,
)
from felix_web.audit.services import audit_row, record
from felix_web.common.ids import new_id
from felix_web.tenancy.rows import insert_rows
from felix_web.tenancy.scoping import tenant_scope
from sessions.bells import ring_thread
from sessions.core.events import Event, EventKind, NewEvent
from sessions.core.states import RunStatus
from sessions.models import Event as EventRow
from sessions.models import ModelRequest, Output, Run, Thread
from sessions.selectors import core_event
from sessions.services.log import append
from sessions.services.runs import end_run, hold_run, hold_stopped_run, park_run


@dataclass(frozen=True, slots=True)
class Claim:
    """What a driver holds: one run, under one fence."""

    run_id: str
    tenant_id: int
    thread_id: int
    branch: int
    leaf_epoch: int
    fence: int


@contextmanager
def _held(claim: Claim, *, or_stopped: bool = False, **changes: Any) -> Iterator[bool]:
    """Run the block in a transaction that holds the run's row under the claim's fence.

    Yields whether the run is running; False only where a stopped one is accepted.

    Raises:
        LeaseLost: the fence moved or the run was stopped; nothing was written.
    """
    with tenant_scope(claim.tenant_id):
        is_running = hold_run(run_id=claim.run_id, fence=claim.fence, **changes)
        if not is_running and not (
            or_stopped and hold_stopped_run(run_id=claim.run_id, fence=claim.fence)
        ):
            raise LeaseLost()
        yield is_running
        ring_thread(claim.thread_id)


def _append(claim: Claim, events: Sequence[NewEvent]) -> list[Event]:
    return append(
        tenant_id=claim.tenant_id,
        thread_id=claim.thread_id,
        branch=claim.branch,
        leaf_epoch=claim.leaf_epoch,
        run_id=claim.run_id,
        events=events,
    )


# As an ORM update this costs more than the rest of the step's statements together.
COUNT = """
UPDATE agent_sessions_run
   SET input_tokens = input_tokens + %s,
       output_tokens = output_tokens + %s,
       cache_read_tokens = cache_read_tokens + %s,
       cache_write_tokens = cache_write_tokens + %s,
       cost_usd_micros = cost_usd_micros + %s,
       is_usage_certain = is_usage_certain AND %s,
       model_ms = model_ms + %s,
       context_tokens = %s
 WHERE id = %s
"""


def answer(
    claim: Claim, message: NewEvent, metered: Metered, starts: Sequence[Start]
) -> list[Event]:
    """*answer*: the message, its usage, and the starts that ride with it are in the log."""
    with _held(claim):
        _count(claim, metered)
        events = _append(claim, [message, *(start.event for start in starts)])
        insert_rows([_request_row(claim, metered)])
    return events


def _count(claim: Claim, metered: Metered) -> None:
    """The held run's totals include the request; an unknown cost makes the total unknown."""
    usage = metered.usage
    counted = [
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
        metered.cost_usd_micros,
        usage.certain,
        metered.took_ms,
        usage.input + usage.cache_read + usage.cache_write or None,
    ]
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [*counted, claim.run_id])


def _request_row(claim: Claim, metered: Metered) -> ModelRequest:
    usage = metered.usage
    return ModelRequest(
        tenant_id=claim.tenant_id,
        run_id=claim.run_id,
        model=metered.model,
        request_class=metered.request_class,
        prefix_digest=metered.prefix_digest,
        input_tokens=usage.input,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        cost_usd_micros=metered.cost_usd_micros,
        is_certain=usage.certain,
        took_ms=metered.took_ms,
    )


def ask(claim: Claim, drafts: Sequence[GateDraft]) -> None:
    """*ask*: all gates of the message are open; the run stays running."""
    with _held(claim):
        run = Run.objects.get(pk=claim.run_id)
        open_gates(run=run, drafts=drafts, ids=[new_id("gate") for _ in drafts])


def park(claim: Claim, *, active_ms: int) -> bool:
    """*park*: the run waits and its lease is free.

    False, and nothing changed, where no gate waits any more, or a call must be asked about again.
    """
    with _held(claim):
        if not may_park(run_id=claim.run_id):
            return False
        park_run(run_id=claim.run_id, fence=claim.fence, active_ms=active_ms)
        return True


def start(claim: Claim, begun: Start) -> list[Event]:
    """*start*: the call's start is in the log, and what allowed it is spent.

    Raises:
        GateSpent: it was used, revoked or withdrawn meanwhile; nothing was written.
    """
    with _held(claim):
        if begun.gate_id and not spend_gate(gate_id=begun.gate_id):
            raise GateSpent()
        if begun.grant_id and not holds_grant(grant_id=begun.grant_id):
            raise GateSpent()
        return _append(claim, [begun.event])


def result(
    claim: Claim,
    ends: Sequence[CallClosed],
    starts: Sequence[Start],
    *,
    is_repeated: bool = False,
) -> list[Event]:
    """*result*: the results are in the log, with the starts that ride along.

    Long outputs stand beside it.

    On a stopped run a result is taken too, but only one for a call that has none: one call, one
    result. A later one goes to the audit alone, and so does what a stale driver brings: evidence
    for settling the call (decisions 3.5).

    Args:
        is_repeated: An earlier try may have been committed with nobody told. Then what it wrote is
            returned, and nothing is written.

    Raises:
        LeaseLost: the run is another's; nothing of it was changed.
    """
    try:
        return _take_results(claim, ends, starts, is_repeated=is_repeated)
    except LeaseLost:
        ran = [end for end in ends if end.started_ms is not None]
        with tenant_scope(claim.tenant_id):
            record(*[_result_audit(claim, end, "late_result") for end in ran])
        raise


def _take_results(
    claim: Claim, ends: Sequence[CallClosed], starts: Sequence[Start], *, is_repeated: bool
) -> list[Event]:
    with _held(claim, or_stopped=True) as is_running:
        if is_repeated and is_running and (before := _taken_before(claim, ends, starts)):
            return before
        taken, late = (list(ends), []) if is_running else _split_late(claim, ends)
        outputs = [_output_row(claim, end) for end in taken if end.full_text]
        if outputs:
            Output.objects.bulk_create(outputs)
        riding = [start.event for start in starts] if is_running else []
        events = _append(claim, [*(_result_event(end) for end in taken), *riding])
        record(
            *[_result_audit(claim, end, "call_closed") for end in taken],
            *[_result_audit(claim, end, "late_result") for end in late],
        )
    return events


def _taken_before(claim: Claim, ends: Sequence[CallClosed], starts: Sequence[Start]) -> list[Event]:
    """Return what an earlier try of the same results wrote: all of it, or nothing."""
    mine = EventRow.objects.filter(
        thread_id=claim.thread_id, branch=claim.branch, run_id=claim.run_id
    )
    results = Q(kind=EventKind.TOOL_RESULT, call_id__in=[end.call_id for end in ends])
    first = mine.filter(results).order_by("seq").first()
    if first is None:
        return []
    riding = Q(kind=EventKind.CALL_STARTED, call_id__in=[start.event.call_id for start in starts])
    return [
        core_event(row) for row in mine.filter(results | riding, seq__gte=first.seq).order_by("seq")
    ]


def _split_late(
    claim: Claim, ends: Sequence[CallClosed]
) -> tuple[list[CallClosed], list[CallClosed]]:
    # A send closes what a stopped run left open, under the thread's lock: look only after it.
    Thread.objects.select_for_update().get(pk=claim.thread_id)
    rows = EventRow.objects.filter(
        thread_id=claim.thread_id,
        branch=claim.branch,
        kind=EventKind.TOOL_RESULT,
        call_id__in=[end.call_id for end in ends],
    )
    closed = dict(rows.values_list("call_id", "payload"))
    return (
        [end for end in ends if end.call_id not in closed],
        # What stands in the log already, word for word, was brought twice and is no evidence.
        [end for end in ends if closed.get(end.call_id) not in (None, _result_event(end).payload)],
    )


def _result_event(end: CallClosed) -> NewEvent:
    payload: dict[str, Any] = {"tool": end.tool, "status": end.status.value, "content": end.content}
    if end.output_id:
        payload |= {"output_id": end.output_id, "total_chars": len(end.full_text)}
    if end.started_ms is not None:
        payload["started_ms"] = end.started_ms
    if end.gate is not None:
        payload["gate"] = end.gate
    if end.grant is not None:
        payload["grant"] = end.grant
    return NewEvent(EventKind.TOOL_RESULT, payload, call_id=end.call_id)


def _output_row(claim: Claim, end: CallClosed) -> Output:
    return Output(
        public_id=end.output_id,
        tenant_id=claim.tenant_id,
        thread_id=claim.thread_id,
        call_id=end.call_id,
        text=end.full_text,
        total_chars=len(end.full_text),
    )


def _result_audit(claim: Claim, end: CallClosed, act: str) -> Any:
    return audit_row(
        tenant_id=claim.tenant_id,
        act=act,
        run_id=claim.run_id,
        subject=end.call_id,
        tool=end.tool,
        status=end.status.value,
    )


def finish(
    claim: Claim, end: Finish, *, final_text: str, active_ms: int, is_usage_lost: bool = False
) -> None:
    """*finish*: the run is over, nothing of it is open, and the log says how it ended.

    Args:
        is_usage_lost: The run's totals are a part of what was used.
    """
    final = {"role": "assistant", "content": final_text} if end.status is RunStatus.DONE else None
    error = {"code": end.reason, "message": end.message} if end.reason else None
    with _held(claim):
        expire_gates(run_id=claim.run_id)
        withdraw_gates(run_id=claim.run_id, because="run_ended")
        closing = close_open_calls(thread_id=claim.thread_id, branch=claim.branch)
        said = {
            "status": end.status.value,
            "reason": end.reason,
            "stop_reason": end.stop_reason.value,
        }
        _append(claim, [*closing, NewEvent(EventKind.RUN_FINISHED, said)])
        end_run(
            run_id=claim.run_id,
            status=end.status,
            stop_reason=end.stop_reason,
            reason=end.reason,
            error=error,
            final=final,
            active_ms=active_ms,
            is_driver=True,
            is_usage_lost=is_usage_lost,
        )
        record(
            audit_row(
                tenant_id=claim.tenant_id,
                act="run_finished",
                run_id=claim.run_id,
                subject=claim.run_id,
                **said,
            )
        )
