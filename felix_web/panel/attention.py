"""The attention line: what waits for this person, as of when; no all-clear that is unchecked."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError
from django.urls import reverse

from agents.views.present.gate import waits_on
from approvals.selectors import MOST_WAITING, gate_json, waiting_gates
from felix_web.common.clock import epoch_ms
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_snapshot

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Attention:
    """One of the line's forms: waiting, nothing waiting, or blind, when nothing may be said.

    `count` gates wait for this person, `others` for somebody else; `link` leads to the first.
    With `is_more` both are lower bounds.
    """

    checked_ms: int
    is_blind: bool = False
    count: int = 0
    is_more: bool = False
    others: int = 0
    deadline_ms: int | None = None
    link: str = ""


def _link(gate: Mapping[str, Any]) -> str:
    if gate["thread_id"] is None:
        return reverse("approvals:gate", args=[gate["gate_id"]])
    return f"{reverse('threads:page', args=[gate['thread_id']])}#gate-{gate['gate_id']}"


def attention_from(gates: Sequence[Mapping[str, Any]], *, viewer: str, now_ms: int) -> Attention:
    """Return the line for the waiting gates of the wire, nearest deadline first."""
    mine = [gate for gate in gates if waits_on(gate, viewer)]
    return Attention(
        checked_ms=now_ms,
        is_more=len(gates) >= MOST_WAITING,
        count=len(mine),
        others=len(gates) - len(mine),
        deadline_ms=mine[0]["expires_at"] if mine else None,
        link=_link(mine[0]) if mine else "",
    )


def attention_of(principal: Principal, *, now_ms: int) -> Attention:
    """Return the line for a member. A database that does not answer makes it blind, never empty."""
    try:
        with tenant_snapshot(principal.tenant_id):
            now = database_now()
            rows = waiting_gates(tenant_id=principal.tenant_id, with_evidence=False)
            gates = [gate_json(gate, now=now, principal=principal) for gate in rows]
    except DatabaseError:
        log.exception("attention_unreadable")
        return Attention(checked_ms=now_ms, is_blind=True)
    return attention_from(gates, viewer=principal.name, now_ms=epoch_ms(now))
