"""What both send routes do first, and what is left of a message whose sender is gone."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest

from agents.services.sending import Message, Sent, send
from agents.services.stopping import abort_run
from approvals.selectors import frame_gates, gate_json
from felix_web.common.errors import FelixError
from felix_web.surfaces.database import in_database, last_in_database
from felix_web.surfaces.rest.schemas import ChatIn
from felix_web.surfaces.rest.translate import ended_json, fingerprint
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_snapshot
from sessions.core.states import RunMode, RunStatus
from sessions.errors import IdempotencyInProgress
from sessions.selectors import run_by_token
from sessions.services.idempotency import check_key

if TYPE_CHECKING:
    from sessions.models import Run


@dataclass(frozen=True, slots=True)
class Begun:
    """A message that was taken. `is_replay`: its key had been used, and the run of then has
    ended.
    """

    run: Run
    is_resend: bool
    is_nobodys: bool

    @property
    def is_durable(self) -> bool:
        """True where the sender comes back with a token."""
        return self.run.mode == RunMode.DURABLE

    @property
    def is_replay(self) -> bool:
        """True for a resend of a request whose run has ended."""
        return self.is_resend and not RunStatus(self.run.status).is_active


def key_of(request: HttpRequest) -> str:
    """Return the Idempotency-Key, or "" where there is none.

    Raises:
        InvalidIdempotencyKey: the header is there and is no key.
    """
    key = request.headers.get("idempotency-key")
    if key is None:
        return ""
    check_key(key)
    return key


def begin(*, principal: Principal, body: ChatIn, key: str) -> Begun:
    """The message is in the log and its run is queued, or it was sent before under this key.

    Raises: what `agents.services.sending.send` raises; nothing was written then.
    """
    message = Message(
        manifest=body.manifest,
        texts=tuple(message.text for message in body.messages),
        thread=body.thread_id,
        model=body.model or "",
        key=key,
        fingerprint=fingerprint(body) if key else "",
    )
    sent: Sent = send(principal=principal, message=message)
    is_nobodys = sent.run.mode == RunMode.TRANSIENT and body.thread_id is None and not key
    return Begun(sent.run, sent.is_resend, is_nobodys)


def refuse_while_going(begun: Begun) -> None:
    """Return where the message is new, or its run has ended.

    Raises:
        IdempotencyInProgress: it was sent before and its run is going; the token is in `fields`.
    """
    if begun.is_resend and not begun.is_replay:
        raise IdempotencyInProgress(
            resume_token=begun.run.resume_token, run_status=begun.run.status
        )


def ended_answer(*, principal: Principal, token: str) -> dict[str, Any]:
    """Return the answer of a run as it is now, its gates with it where the caller may read
    those.
    """
    with tenant_snapshot(principal.tenant_id):
        run = run_by_token(tenant_id=principal.tenant_id, token=token)
        now = database_now()
        rows = frame_gates(run_id=run.pk) if principal.has("approvals:read") else []
        gates = [gate_json(row, now=now, principal=principal) for row in rows]
    return ended_json(run, gates, now)


async def take_message(*, principal: Principal, body: ChatIn, key: str) -> Begun:
    """Return the message as `begin` took it; the request holds no connection from here on.

    A sender who goes away meanwhile and cannot come back finds its run stopped (L1).
    """
    beginning = asyncio.ensure_future(
        last_in_database(begin, principal=principal, body=body, key=key)
    )
    try:
        return await asyncio.shield(beginning)
    except asyncio.CancelledError:
        with suppress(FelixError):
            await leave(principal=principal, begun=await beginning)
        raise


async def leave(*, principal: Principal, begun: Begun) -> None:
    """The sender is gone: its run is stopped where nobody could ever ask for it again (L1)."""
    if begun.is_nobodys:
        stopping = in_database(abort_run, principal=principal, thread=begun.run.thread)
        await asyncio.shield(asyncio.ensure_future(stopping))
