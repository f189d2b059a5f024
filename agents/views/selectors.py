"""Reading threads as rows, each with its newest run and the gate that holds it: few queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from agents.views.gate_rows import gate_rows
from agents.views.present.target import target
from agents.views.wire import run_wire
from approvals.models import Gate
from approvals.selectors import gates_of_threads
from felix_web.common.clock import epoch_ms
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now
from sessions.core.events import EventKind
from sessions.core.states import RunStatus
from sessions.models import Event, Run, Thread, ThreadKind
from sessions.models.run import ACTIVE

PAGE_ROWS = 50
STATES = {
    "waiting": (RunStatus.WAITING,),
    "running": (RunStatus.RUNNING, RunStatus.QUEUED),
    "failed": (RunStatus.FAILED, RunStatus.EXPIRED),
}

ACTIVE_ROWS = 200

Wire = dict[str, Any]
Cursor = tuple[datetime, int]


@dataclass(frozen=True, slots=True)
class ThreadFilter:
    """Which threads: `state` is one of STATES, `mine`, or "" for all; the rest narrow it."""

    state: str = ""
    text: str = ""
    agent: str = ""


def _newest_run_value(name: str) -> Subquery:
    newest = Run.objects.filter(thread=OuterRef("pk"), parent_run=None)
    return Subquery(newest.order_by("-created_at", "-id").values(name)[:1])


def _threads(principal: Principal, chosen: ThreadFilter) -> QuerySet[Any]:
    rows = Thread.objects.for_tenant(principal.tenant_id).filter(
        kind=ThreadKind.CHAT, deleted_at=None
    )
    if chosen.text:
        rows = rows.filter(title__icontains=chosen.text)
    if chosen.agent:
        rows = rows.filter(manifest=chosen.agent)
    if chosen.state == "mine":
        rows = rows.filter(owner_id=principal.member_id)
    rows = rows.annotate(
        newest_run=_newest_run_value("id"), newest_status=_newest_run_value("status")
    )
    if chosen.state in STATES:
        rows = rows.filter(newest_status__in=[status.value for status in STATES[chosen.state]])
    return rows.select_related("owner__user")


def thread_page(
    *, principal: Principal, chosen: ThreadFilter, before: Cursor | None = None
) -> tuple[list[Wire], Cursor | None]:
    """Return rows of the tenant's threads, and where the next page starts, or None on the last one.

    The first page has the newest `ACTIVE_ROWS` threads with an active run, whatever their age, and
    the newest others; those with an active run beyond that number are among the others.

    Args:
        before: (updated_at, pk) of the last row of the page before.
    """
    rows = _threads(principal, chosen).order_by("-updated_at", "-pk")
    ahead = _active_ids(principal)
    active = [] if before else list(rows.filter(pk__in=ahead))
    others = rows.exclude(pk__in=ahead)
    if before is not None:
        moment, pk = before
        others = others.filter(Q(updated_at__lt=moment) | Q(updated_at=moment, pk__lt=pk))
    rest = list(others[: PAGE_ROWS + 1])
    more = len(rest) > PAGE_ROWS
    rest = rest[:PAGE_ROWS]
    cursor = (rest[-1].updated_at, rest[-1].pk) if more else None
    return _as_rows(principal, [*active, *rest]), cursor


def _active_ids(principal: Principal) -> list[int]:
    """Return the threads with an active run, newest first; found through the few active runs."""
    return list(
        _active_runs(principal)
        .order_by("-created_at")
        .values_list("thread_id", flat=True)[:ACTIVE_ROWS]
    )


def _active_runs(principal: Principal) -> QuerySet[Run]:
    return Run.objects.for_tenant(principal.tenant_id).filter(
        parent_run=None,
        status__in=ACTIVE,
        thread__kind=ThreadKind.CHAT,
        thread__deleted_at=None,
    )


def _as_rows(principal: Principal, threads: Sequence[Thread]) -> list[Wire]:
    runs = Run.objects.in_bulk([_run_id(thread) for thread in threads])
    waiting = [thread.pk for thread in threads if _status(thread) == RunStatus.WAITING]
    now = database_now()
    gates = _first_gates(principal, gates_of_threads(thread_ids=waiting), now) if waiting else {}
    tools = _started_tools([thread for thread in threads if _status(thread) == RunStatus.RUNNING])

    def row(thread: Thread) -> Wire:
        run, gate = runs.get(_run_id(thread)), gates.get(thread.pk)
        if run is None:
            return _bare_row(thread)
        doing = _doing(run, gate, tools.get(thread.pk, ""))
        return _row(thread, run_wire(run, now=now), doing, gate)

    return [row(thread) for thread in threads]


def _run_id(thread: Thread) -> str:
    return str(getattr(thread, "newest_run", None) or "")


def _status(thread: Thread) -> str:
    return str(getattr(thread, "newest_status", None) or "")


def _first_gates(principal: Principal, gates: Sequence[Gate], now: datetime) -> dict[int, Wire]:
    """Return each thread's gate to name: one the caller can decide, else the nearest deadline."""
    first: dict[int, Wire] = {}
    wires = gate_rows(gates, now=now, principal=principal)
    for gate, wire in zip(gates, wires, strict=True):
        known = first.get(gate.thread_id)
        if known is None or (wire["can_decide"] and not known["can_decide"]):
            first[gate.thread_id] = wire
    return first


def _started_tools(threads: Sequence[Thread]) -> dict[int, str]:
    """Return the tool that is going on each thread, where its newest event is a call's start."""
    if not threads:
        return {}
    newest = reduce(or_, (Q(thread_id=thread.pk, seq=thread.leaf_seq) for thread in threads))
    rows = Event.objects.filter(newest, kind=EventKind.CALL_STARTED)
    return {row.thread_id: str(row.payload.get("tool") or "") for row in rows}


def _doing(run: Run, gate: Wire | None, tool: str) -> str:
    if gate is not None:
        about = (gate["evidence"] or {}).get("target") or target(gate["args"])
        return f"{gate['tool']} {about}".strip()
    if run.status == RunStatus.RUNNING:
        return tool or "the model is thinking"
    if run.status == RunStatus.QUEUED:
        return "starts as soon as a worker is free"
    said = (run.final or {}).get("content") if run.status == RunStatus.DONE else ""
    return said if isinstance(said, str) else ""


def _bare_row(thread: Thread) -> Wire:
    owner = thread.owner.user.get_username() if thread.owner is not None else "a program"
    return {
        "thread_id": thread.suffix,
        "title": thread.title,
        "manifest": thread.manifest,
        "owner": owner,
        "updated_at": epoch_ms(thread.updated_at),
    }


def _row(thread: Thread, run: Wire, doing: str, gate: Wire | None) -> Wire:
    return {
        **run,
        **_bare_row(thread),
        "manifest": run["manifest"],
        "cost": run["usage"]["cost_usd_micros"],
        "certain": run["usage"]["certain"],
        "doing": doing,
        "deadline": gate["expires_at"] if gate else None,
        "gate": gate,
    }


def active_counts(*, principal: Principal) -> dict[str, int]:
    """Return how many threads wait and how many run, by the names of STATES."""
    rows = _active_runs(principal).values_list("status").annotate(number=Count("pk"))
    counts = {RunStatus(status): number for status, number in rows}
    return {
        name: sum(counts.get(status, 0) for status in STATES[name])
        for name in ("waiting", "running")
    }
