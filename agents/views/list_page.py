"""The thread list: rows, filters, and the way to older ones."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.urls import reverse

from agents.services.manifests import manifest_names
from agents.views.page import with_query
from agents.views.present.numbers import counted
from agents.views.present.thread_row import ThreadRow, present_rows
from agents.views.selectors import STATES, Cursor, ThreadFilter, active_counts, thread_page
from felix_web.common.clock import epoch_ms
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_snapshot

LONGEST_TEXT = 200


class Filter(NamedTuple):
    """One link of the filter line."""

    name: str
    url: str
    is_current: bool


def _cursor(text: str) -> Cursor | None:
    """Return where a page starts, or None for the newest; what cannot be read is None."""
    moment, _, pk = text.partition("~")
    try:
        return datetime.fromisoformat(moment), int(pk)
    except ValueError:
        return None


def _filters(chosen: ThreadFilter, counts: dict[str, int]) -> list[Filter]:
    names = {
        "": "All",
        "waiting": f"Waiting {counts['waiting']}",
        "running": f"Running {counts['running']}",
        "failed": "Failed",
        "mine": "Mine",
    }
    url = reverse("threads:list")
    return [
        Filter(
            name,
            with_query(url, state=state, q=chosen.text, agent=chosen.agent),
            chosen.state == state,
        )
        for state, name in names.items()
    ]


def _summary(rows: tuple[ThreadRow, ...], *, has_more: bool) -> str:
    if not rows:
        return "none"
    mine = sum(row.waits_on_you for row in rows)
    shown = f"{counted(len(rows), 'thread')} shown" + (", there are older ones" if has_more else "")
    return f"{shown}, {mine} waiting on you" if mine else shown


def list_context(
    *, principal: Principal, state: str, text: str, agent: str, before: str
) -> dict[str, Any]:
    """Return the page's context; an unknown state is all."""
    known = state if state in STATES or state == "mine" else ""
    chosen = ThreadFilter(known, text.strip()[:LONGEST_TEXT], agent)
    with tenant_snapshot(principal.tenant_id):
        now = database_now()
        wire, cursor = thread_page(principal=principal, chosen=chosen, before=_cursor(before))
        counts = active_counts(principal=principal)
    rows = present_rows(wire, viewer=principal.name)
    older = f"{cursor[0].isoformat()}~{cursor[1]}" if cursor else ""
    query = {"state": known, "q": chosen.text, "agent": agent}
    return {
        "now_ms": epoch_ms(now),
        "rows": rows,
        "summary": _summary(rows, has_more=cursor is not None),
        "filters": _filters(chosen, counts),
        "is_filtered": bool(known or chosen.text or agent or before),
        "state": known,
        "q": chosen.text,
        "agent": agent,
        "agents": manifest_names(tenant_id=principal.tenant_id),
        "older_url": with_query(reverse("threads:list"), before=older, **query) if older else "",
    }
