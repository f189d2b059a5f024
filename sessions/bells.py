"""Rings the doorbell when, and only when, the caller's transaction commits."""

from __future__ import annotations

from django.db import transaction

from felix_web.common.doorbell import doorbell


def ring_run(run_id: str) -> None:
    """Workers look at the run after the commit."""
    transaction.on_commit(lambda: doorbell().run_ready(run_id))


def ring_stopped(run_id: str) -> None:
    """A driver of the run is told to end after the commit."""
    transaction.on_commit(lambda: doorbell().run_stopped(run_id))


def ring_thread(thread_id: int) -> None:
    """Readers of the thread look after the commit."""
    transaction.on_commit(lambda: doorbell().thread_changed(thread_id))
