"""Running calls that the controls let pass: what is written before and after, and in what order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from agents.core.controls.base import Allow, Candidate, Deny, Verdict
from agents.core.ports import Ports
from agents.core.store import CallClosed, GrantView, Start
from agents.core.tools.base import Outcome, ToolContext, definition_digest
from agents.core.tools.dispatch import execute
from agents.core.tools.window import DEFAULT_LIMIT, storable, window
from felix_web.common.digests import digest
from felix_web.common.faults import reach
from felix_web.common.ids import new_id
from sessions.core.events import EventKind, NewEvent

GRACE_SECONDS = 5.0
"""How long a stopped call may take to end before its result is given up."""


def start_of(candidate: Candidate) -> Start:
    """Return the start of an allowed call, as the log keeps it."""
    gate, grant = candidate.gate, candidate.grant
    args = candidate.args_json
    payload: dict[str, Any] = {
        "tool": candidate.tool.name,
        "tool_digest": definition_digest(candidate.tool),
        "args_digest": digest(args),
        "replay_safe": candidate.tool.is_replay_safe,
    }
    if gate is not None:
        payload["gate_id"] = gate.gate_id
    if grant is not None:
        payload["grant_id"] = grant.grant_id
    if args != candidate.call.args:
        payload["edited_args"] = args
    event = NewEvent(EventKind.CALL_STARTED, payload, call_id=candidate.call.call_id)
    return Start(event, gate.gate_id if gate else "", grant.grant_id if grant else "")


def needs_own_start(candidate: Candidate) -> bool:
    """Return whether the start must be committed by itself before the call.

    An effect, or an approval to spend.
    """
    if candidate.is_resumed:
        return False
    return not candidate.tool.is_replay_safe or bool(candidate.gate or candidate.grant)


def batch_of(allowed: Sequence[Allow], *, parallel: bool) -> list[Candidate]:
    """Return the calls to run now.

    The first one, or at once all leading ones that may run side by side.
    """
    candidates = [verdict.candidate for verdict in allowed]
    first = candidates[:1]
    if not parallel or not first or not _side_by_side(first[0]):
        return first
    batch = []
    for candidate in candidates:
        if not _side_by_side(candidate):
            break
        batch.append(candidate)
    return batch


def riding_starts(verdicts: Sequence[Verdict], *, parallel: bool) -> list[Start]:
    """Return the starts that may ride in the commit before: replay-safe, nobody asked (L3)."""
    allowed = [verdict for verdict in verdicts if isinstance(verdict, Allow)]
    batch = batch_of(allowed, parallel=parallel) if len(allowed) == len(verdicts) else []
    fits = not any(needs_own_start(candidate) for candidate in batch)
    return [start_of(candidate) for candidate in batch] if fits else []


def heed_stop() -> None:
    """Return unless a stop came while a call was let end: its result is committed, so end now."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _side_by_side(candidate: Candidate) -> bool:
    return candidate.tool.is_replay_safe and not (candidate.gate or candidate.grant)


async def run_call(candidate: Candidate, ports: Ports) -> CallClosed:
    """Run the call's body on a thread and return how it ended.

    A cancelled caller tells the body to stop and waits `GRACE_SECONDS` for its outcome, so that an
    effect that happened is recorded; it must call `heed_stop` once it is. The outcome of a body
    that takes longer is brought to the store when it comes.

    Raises:
        CancelledError: the body had not ended by then.
    """
    tool, args = candidate.tool, candidate.args
    context = ports.tool_context(candidate.call.call_id)
    context.deadline = ports.clock.monotonic() + tool.timeout_seconds
    context.preimage = _preimage_of(candidate)
    started_ms = ports.clock.now_ms()
    body = asyncio.ensure_future(ports.threads.run(partial(execute, tool, args, context)))

    def bring(done: asyncio.Future[Outcome]) -> None:
        if not done.cancelled() and done.exception() is None:
            ports.store.bring_late([closed(candidate, done.result(), started_ms=started_ms)])

    try:
        outcome = await _outlive_a_stop(body, context)
    except asyncio.CancelledError:
        body.add_done_callback(bring)
        raise
    reach("after_call")
    return closed(candidate, outcome, started_ms=started_ms)


def _preimage_of(candidate: Candidate) -> str | None:
    if candidate.gate is not None:
        return candidate.gate.contract.preimage or None
    return candidate.grant.preimage or None if candidate.grant is not None else None


async def _outlive_a_stop(body: asyncio.Future[Outcome], context: ToolContext) -> Outcome:
    try:
        return await asyncio.shield(body)
    except asyncio.CancelledError:
        context.cancelled.set()
        await _grace(body)
        if not body.done():
            raise
        return body.result()


async def _grace(body: asyncio.Future[Outcome]) -> None:
    """The body has ended, or its time is over. A stop said again does not cut the time short."""
    loop = asyncio.get_running_loop()
    until = loop.time() + GRACE_SECONDS
    while not body.done() and (left := until - loop.time()) > 0:
        with suppress(asyncio.CancelledError):
            await asyncio.wait({body}, timeout=left)


def closed(candidate: Candidate, outcome: Outcome, *, started_ms: int | None = None) -> CallClosed:
    """Return the end of a call.

    The window for the model, and the whole text where that is longer.
    """
    output_id = new_id("out")
    text = storable(outcome.text)
    limit = candidate.tool.window_chars if candidate.is_sound else DEFAULT_LIMIT
    shown = window(text, limit=limit, output_id=output_id)
    is_cut = shown != text
    return CallClosed(
        call_id=candidate.call.call_id,
        tool=candidate.call.tool,
        status=outcome.status,
        content=shown,
        full_text=text if is_cut else "",
        output_id=output_id if is_cut else "",
        started_ms=started_ms,
        gate=_gate_facts(candidate),
        grant=_grant_facts(candidate.grant),
    )


def denial(verdict: Deny) -> CallClosed:
    """Return the end of a call that did not run."""
    return closed(verdict.candidate, verdict.outcome)


def _gate_facts(candidate: Candidate) -> dict[str, str] | None:
    gate = candidate.view.gates.get(candidate.call.call_id)
    if gate is None:
        return None
    return {
        "gate_id": gate.gate_id,
        "status": gate.status.value,
        "decided_by": gate.decided_by,
        "note": gate.note,
    }


def _grant_facts(grant: GrantView | None) -> dict[str, str] | None:
    if grant is None:
        return None
    return {
        "grant_id": grant.grant_id,
        "gate_id": grant.gate_id,
        "granted_by": grant.granted_by,
    }
