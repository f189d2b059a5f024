"""The approvals inbox: my queue, the team's, and what was decided."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.urls import reverse

from agents.views.gate_rows import gate_rows
from agents.views.page import act_key, with_query
from agents.views.present.gate import GateCard, present_gate, waits_on
from agents.views.present.inbox import present_inbox
from agents.views.present.numbers import counted
from approvals.core.gate import GateStatus
from approvals.models import Gate
from approvals.selectors import gate_for, gate_json, gates_page, waiting_gates
from felix_web.common.clock import epoch_ms
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_snapshot

Wire = dict[str, Any]

PAGE_ROWS = 50
EMPTY = {
    "": "Nothing waiting on you. Gates appear here when a rule stops a call.",
    "team": "Nothing waiting. Gates appear here when a rule stops a call.",
    "history": "Nothing was decided yet.",
}


class Filter(NamedTuple):
    """One link of a filter line."""

    name: str
    url: str
    is_current: bool


def _wires(gates: list[Gate], now: datetime, principal: Principal) -> list[Wire]:
    rows = gate_rows(gates, now=now, principal=principal)
    return [
        row | {"thread_title": gate.thread.title} for gate, row in zip(gates, rows, strict=True)
    ]


def _cursor(text: str) -> tuple[datetime, str] | None:
    """Return where a page of history starts; None, the newest, also for what cannot be read."""
    moment, _, gate_id = text.partition("~")
    try:
        return (datetime.fromisoformat(moment), gate_id) if gate_id else None
    except ValueError:
        return None


def _history(principal: Principal, before: str) -> tuple[list[Gate], str]:
    """Return settled gates, newest first, and the address of the page after."""
    rows = gates_page(
        tenant_id=principal.tenant_id,
        limit=PAGE_ROWS,
        before=_cursor(before),
        with_evidence=False,
    )
    more = len(rows) > PAGE_ROWS
    rows = rows[:PAGE_ROWS]
    if not more:
        return rows, ""
    cursor = f"{rows[-1].created_at.isoformat()}~{rows[-1].pk}"
    return rows, with_query(reverse("approvals:inbox"), queue="history", before=cursor)


def _filters(queue: str, mine: int, team: int) -> list[Filter]:
    url = reverse("approvals:inbox")
    return [
        Filter(f"My queue {mine}", url, queue == ""),
        Filter(f"Team {team}", with_query(url, queue="team"), queue == "team"),
        Filter("History", with_query(url, queue="history"), queue == "history"),
    ]


def _summary(mine: int, team: int) -> str:
    if not team:
        return "nothing waiting"
    return f"{mine} waiting on you, {counted(team, 'gate')} of the team in all"


def inbox_context(*, principal: Principal, queue: str, before: str) -> dict[str, Any]:
    """Return the page's context; an unknown queue is one's own."""
    queue = queue if queue in EMPTY else ""
    is_history = queue == "history"
    with tenant_snapshot(principal.tenant_id):
        now = database_now()
        rows = waiting_gates(tenant_id=principal.tenant_id, with_evidence=False)
        waiting = _wires(rows, now, principal)
        mine = [gate for gate in waiting if waits_on(gate, principal.name)]
        settled, older_url = _history(principal, before) if is_history else ([], "")
        ended = _wires(settled, now, principal)
        shown = _shown(queue, mine=mine, team=waiting, ended=ended)
        first = shown[0] if shown and not is_history else None
        card = _card(first["gate_id"], now, principal) if first else None
    return {
        "now_ms": epoch_ms(now),
        "queue": queue,
        "summary": _summary(len(mine), len(waiting)),
        "filters": _filters(queue, len(mine), len(waiting)),
        "rows": present_inbox(
            shown,
            viewer=principal.name,
            picked=first["gate_id"] if first else "",
            newest_first=is_history,
        ),
        "gate": card,
        "caption": "Decisions, newest first" if is_history else "Gates, nearest deadline first",
        "first_column": "When" if is_history else "Left",
        "empty_words": EMPTY[queue],
        "older_url": older_url,
        "act_key": act_key(),
    }


def _shown(queue: str, *, mine: list[Wire], team: list[Wire], ended: list[Wire]) -> list[Wire]:
    if queue == "history":
        return [gate for gate in ended if gate["status"] != GateStatus.WAITING]
    return (team if queue == "team" else mine)[:PAGE_ROWS]


def _card(gate_id: str, now: datetime, principal: Principal) -> GateCard:
    """Return the card beside the list: the one gate that is read with its evidence."""
    row = gate_for(tenant_id=principal.tenant_id, gate_id=gate_id)
    gate = gate_json(row, now=now, principal=principal)
    agent = f"{gate['manifest']}@{gate['version']}"
    return present_gate(gate, viewer=principal.name, agent=agent, where="inbox")
