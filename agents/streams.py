"""Streams of frames for the surfaces: a run from its start, a thread from a cursor, an ended run once more.

Every stream is an async generator of whole SSE fields, without heartbeats: the response adds those. None of them holds
a database connection while it waits (decisions 3.9).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from felix_web.tenancy.principal import Principal
from sessions.models import Thread


async def run_stream(
    *, run_id: str, principal: Principal, abort_on_disconnect: bool = False
) -> AsyncGenerator[bytes, None]:
    """Yield the frames of a run from its start: `run`, all its events, gates, text, usage, its end, `[DONE]`.

    Args:
        abort_on_disconnect: True stops the run when the reader goes away before its end: for a transient send without
            thread and without key, which nobody can come back for (L1).
    """
    raise NotImplementedError
    yield b""


async def attach_stream(
    *, thread: Thread, principal: Principal, cursor: int | None
) -> AsyncGenerator[bytes, None] | None:
    """Return a stream of the thread from the cursor on, or None (204): no run is going and nothing is new.

    Args:
        cursor: The next seq the reader wants; None begins with a snapshot. Use `cursor_of` for a header's text.
    """
    raise NotImplementedError


async def replay_stream(*, run_id: str, principal: Principal) -> AsyncGenerator[bytes, None]:
    """Yield the frames of an ended run, and only of it: `run`, its events, its gates as they ended, usage, end."""
    raise NotImplementedError
    yield b""


def snapshot(*, thread: Thread, principal: Principal) -> dict[str, Any]:
    """Return the thread as its `snapshot` frame shows it, read at one moment. Sync; opens its own transaction.

    Gates are left out where the principal lacks `approvals:read`.
    """
    raise NotImplementedError


async def wait_for_end(*, run_id: str, principal: Principal, timeout_seconds: float) -> bool:
    """Return True once the run has ended, False when the time is over."""
    raise NotImplementedError


def cursor_of(text: str | None) -> int | None:
    """Return the cursor that a `Last-Event-ID` or a query says, or None: garbage counts as absent."""
    raise NotImplementedError
