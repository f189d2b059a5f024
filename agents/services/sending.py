"""*send*: key, run, user event and audit are one transaction, or nothing happened (L10)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction

from agents.core.compile import CompiledAgent
from agents.profiles import SCRIPTED, deployment_models
from agents.services.closing import close_open_calls
from agents.services.manifests import compiled_version, live_version
from felix_web.audit.services import audit_row, record
from felix_web.common.errors import Forbidden, NotFound
from felix_web.common.ids import new_id, new_secret
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_scope
from sessions.bells import ring_run, ring_thread
from sessions.core.events import EventKind, NewEvent
from sessions.errors import RunInProgress
from sessions.models import Run, Thread
from sessions.selectors import active_run
from sessions.services import idempotency
from sessions.services.log import append
from sessions.services.threads import check_thread_id, locked_thread

log = logging.getLogger(__name__)


class NotAnOperator(Forbidden):
    """Viewers read; starting and stopping runs takes an operator."""

    code = "not_an_operator"
    title = "Not an operator"


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent. `thread` None makes a hidden thread for this one request.

    `key` is the Idempotency-Key, `fingerprint` the digest of the canonical body it belongs to.
    """

    manifest: str
    texts: tuple[str, ...]
    thread: str | None = None
    model: str = ""
    key: str = ""
    fingerprint: str = ""
    is_attended: bool = True


@dataclass(frozen=True, slots=True)
class Sent:
    """The run of a message; `is_resend` where the key had started it before."""

    run: Run
    is_resend: bool = False


def send(*, principal: Principal, message: Message) -> Sent:
    """The message is in the log and its run is queued.

    Or its key is known, and the run of then is returned.

    Raises:
        NotAnOperator: the caller may only read.
        InvalidThreadId, InvalidIdempotencyKey: as they say.
        IdempotencyKeyReused: the key belongs to another body.
        UnknownManifest, ManifestInvalid, UnknownModel: no such agent, or it cannot be run.
        RunInProgress: the thread has a run; its resume token is in `fields`.
    In every one of these cases nothing was written and the key is free.

    Locks: the thread's row.
    """
    if not principal.may_send:
        raise NotAnOperator()
    if message.thread is not None:
        check_thread_id(message.thread)
    if (known := _known(principal, message)) is not None:
        return Sent(known, is_resend=True)
    agent = compiled_version(live_version(tenant_id=principal.tenant_id, name=message.manifest))
    model = deployment_models().model(message.model or agent.model_id or "").name
    try:
        with tenant_scope(principal.tenant_id):
            return Sent(_write(principal, message, agent, model))
    except (IntegrityError, RunInProgress) as lost:
        # Another request with the key, or on the thread, was first between our look and our write.
        if (known := _known(principal, message)) is not None:
            return Sent(known, is_resend=True)
        raise lost if isinstance(lost, RunInProgress) else RunInProgress() from None


def _known(principal: Principal, message: Message) -> Run | None:
    if not message.key:
        return None
    idempotency.check_key(message.key)
    return idempotency.known_run(
        principal=principal, message_key=message.key, fingerprint=message.fingerprint
    )


def _write(principal: Principal, message: Message, agent: CompiledAgent, model: str) -> Run:
    thread, is_new = locked_thread(
        principal=principal,
        suffix=message.thread,
        manifest=agent.name,
        title=message.texts[0],
    )
    if thread.deleted_at is not None:
        raise NotFound("There is no such thread.")
    if not is_new:
        _refuse_while_active(thread)
    run = _new_run(principal, message, agent, model, thread)
    if message.key:
        idempotency.claim_key(
            principal=principal, key=message.key, fingerprint=message.fingerprint, run=run
        )
    append(
        tenant_id=principal.tenant_id,
        thread_id=thread.pk,
        branch=thread.active_branch,
        leaf_epoch=thread.leaf_epoch,
        run_id=run.pk,
        events=[
            *([] if is_new else _left_open(thread)),
            *_said(principal, message),
            _began(run),
        ],
        origin=run.pk,
    )
    _record_start(principal, run, thread)
    transaction.on_commit(lambda: _log_start(run), robust=True)
    ring_run(run.pk)
    ring_thread(thread.pk)
    return run


def _left_open(thread: Thread) -> list[NewEvent]:
    return close_open_calls(thread_id=thread.pk, branch=thread.active_branch)


def _log_start(run: Run) -> None:
    facts = {"manifest": f"{run.manifest}@{run.manifest_version}", "model": run.model}
    log.info("run_started", extra={"run_id": run.pk, "scripted": run.is_scripted, **facts})


def _said(principal: Principal, message: Message) -> list[NewEvent]:
    return [
        NewEvent(EventKind.USER_MESSAGE, {"content": text, "by": principal.name})
        for text in message.texts
    ]


def _began(run: Run) -> NewEvent:
    facts = {
        "manifest": run.manifest,
        "version": run.manifest_version,
        "model": run.model,
        "mode": run.mode,
        "scripted": run.is_scripted,
    }
    return NewEvent(EventKind.RUN_STARTED, facts)


def _record_start(principal: Principal, run: Run, thread: Thread) -> None:
    record(
        audit_row(
            tenant_id=principal.tenant_id,
            act="run_started",
            actor=principal.name,
            run_id=run.pk,
            subject=thread.suffix,
            manifest=f"{run.manifest}@{run.manifest_version}",
            via=principal.via,
        )
    )


def _refuse_while_active(thread: Thread) -> None:
    going = active_run(thread_id=thread.pk)
    if going is not None:
        raise RunInProgress(
            resume_token=going.resume_token, run_id=going.pk, run_status=going.status
        )


def _new_run(
    principal: Principal, message: Message, agent: CompiledAgent, model: str, thread: Thread
) -> Run:
    ends = database_now() + timedelta(seconds=agent.run_ttl_seconds)
    if principal.expires_at is not None:
        ends = min(ends, principal.expires_at)
    return Run.objects.create(
        id=new_id("run"),
        resume_token=new_secret("rt"),
        tenant_id=principal.tenant_id,
        thread=thread,
        branch=thread.active_branch,
        leaf_epoch=thread.leaf_epoch,
        first_seq=thread.head_seq,
        manifest=agent.name,
        manifest_version=agent.version,
        mode=agent.mode.value,
        is_attended=message.is_attended,
        model=model,
        is_scripted=model == SCRIPTED and deployment_models().model(model).provider.base_url == "",
        member_id=principal.member_id,
        key_id=principal.key_id,
        starter=principal.name,
        scopes=sorted(principal.scopes),
        expires_at=ends,
    )
