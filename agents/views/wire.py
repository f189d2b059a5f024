"""Rows as the wire shows them, for the presenters. No query: what is read was loaded before."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from agents.core.limits import Limits
from agents.selectors import status_at
from felix_web.common.clock import epoch_ms, optional_ms
from sessions.core.events import Event
from sessions.models import Run


def event_wire(event: Event) -> dict[str, Any]:
    """Return an event with its payload flat (decisions 2.4); what is sealed never leaves."""
    return {
        **event.payload,
        "seq": event.seq,
        "branch_id": event.branch,
        "kind": event.kind.value,
        "run_id": event.run_id,
        "message_id": event.message_id,
        "call_id": event.call_id,
        "ts": event.ts_ms,
    }


def run_wire(
    run: Run, *, now: datetime, limits: Limits | None = None, context_window: int | None = None
) -> dict[str, Any]:
    """Return a run with its counters.

    Args:
        now: Judges whether its time is over.
        limits: What its manifest and its model allow; None where that is not asked for.
        context_window: Tokens that its model takes; None where not known, or not asked for.
    """
    allowed: dict[str, int] = {}
    if limits is not None:
        allowed = {
            "max_tool_calls": limits.max_tool_calls,
            "recursion_limit": limits.recursion_limit,
        }
    return {
        "run_id": run.pk,
        "status": status_at(run, now).value,
        "reason": run.reason,
        "manifest": run.manifest,
        "version": run.manifest_version,
        "mode": run.mode,
        "model": run.model,
        "scripted": run.is_scripted,
        "started_by": run.starter,
        "created_at": epoch_ms(run.created_at),
        "started_at": optional_ms(run.started_at),
        "finished_at": optional_ms(run.finished_at),
        "expires_at": epoch_ms(run.expires_at),
        "usage": {
            "input": run.input_tokens,
            "output": run.output_tokens,
            "cache_read": run.cache_read_tokens,
            "cache_write": run.cache_write_tokens,
            "cost_usd_micros": run.cost_usd_micros,
            "certain": run.is_usage_certain,
            "model_ms": run.model_ms,
            "context_tokens": run.context_tokens,
        },
        "context_window": context_window,
        "limits": allowed,
        "error": run.error,
    }
