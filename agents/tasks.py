"""Celery tasks: each takes an id and may be run twice or never; the database decides (L4)."""

from __future__ import annotations

from celery import shared_task

from agents.engine import engine
from agents.services.sweeping import sweep


@shared_task(name="agents.drive")  # type: ignore[untyped-decorator]
def drive(run_id: str) -> None:
    """Drive the run until it is parked or over; nothing where it is not to be had."""
    engine().submit(run_id).result()


@shared_task(name="agents.sweep")  # type: ignore[untyped-decorator]
def sweep_now() -> None:
    """Find what no message told of: lapsed leases, lost rings, deadlines, expired runs."""
    sweep()
