"""Rows as REST answers them: pure functions, one a shape (decisions 2.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse

from agents.selectors import ManifestRow, ThreadRow, status_at, wire_thread
from felix_web.common.clock import epoch_ms, optional_ms
from felix_web.common.digests import digest
from felix_web.surfaces.rest.schemas import ChatIn

if TYPE_CHECKING:
    from agents.models import ManifestVersion
    from sessions.models import Run

REPLAYED = {"Idempotent-Replayed": "true"}


def answer(
    body: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """Return the answer. Its text is ASCII, so that no text in it can break it."""
    return HttpResponse(
        json.dumps(body), status=status, headers=headers, content_type="application/json"
    )


def fingerprint(body: ChatIn) -> str:
    """Return the digest of what a body means: two spellings of one message are one."""
    texts = [message.text for message in body.messages]
    return digest([body.manifest, texts, body.thread_id, body.model or ""])


def usage_json(run: Run) -> dict[str, Any]:
    """Return what a run used so far."""
    micros = run.cost_usd_micros
    return {
        "input": run.input_tokens,
        "output": run.output_tokens,
        "cache_read": run.cache_read_tokens,
        "cache_write": run.cache_write_tokens,
        "cost_usd": None if micros is None else micros / 1_000_000,
        "certain": run.is_usage_certain,
    }


def run_json(run: Run, now: datetime) -> dict[str, Any]:
    """Return a run, its status judged at this moment."""
    return {
        "run_id": run.pk,
        "resume_token": run.resume_token,
        "status": status_at(run, now).value,
        "reason": run.reason,
        "stop_reason": run.stop_reason,
        "error": run.error,
        "usage": usage_json(run),
        "manifest": run.manifest,
        "version": run.manifest_version,
        "model": run.model,
        "mode": run.mode,
        "scripted": run.is_scripted,
        "created_at": epoch_ms(run.created_at),
        "finished_at": optional_ms(run.finished_at),
        "expires_at": epoch_ms(run.expires_at),
    }


def ended_json(run: Run, gates: Sequence[dict[str, Any]], now: datetime) -> dict[str, Any]:
    """Return a transient run that has ended."""
    return {
        "thread_id": wire_thread(run),
        "run": run_json(run, now),
        "final": run.final,
        "gates": list(gates),
    }


def accepted_json(run: Run) -> dict[str, Any]:
    """Return a run that goes on without its sender."""
    return {
        "status": "accepted",
        "resume_token": run.resume_token,
        "thread_id": wire_thread(run),
        "expires_at": epoch_ms(run.expires_at),
    }


def run_state_json(run: Run, now: datetime) -> dict[str, Any]:
    """Return how a run stands."""
    return {
        "status": status_at(run, now).value,
        "resume_token": run.resume_token,
        "thread_id": wire_thread(run),
        "final": run.final,
        "error": run.error,
        "scripted": run.is_scripted,
        "expires_at": epoch_ms(run.expires_at),
    }


def thread_json(row: ThreadRow) -> dict[str, Any]:
    """Return a thread of the list."""
    thread = row.thread
    return {
        "thread_id": thread.suffix,
        "name": thread.title,
        "manifest": thread.manifest,
        "status": row.status.value if row.status else None,
        "scripted": row.is_scripted,
        "leaf_seq": thread.leaf_seq,
        "created_at": epoch_ms(thread.created_at),
        "updated_at": epoch_ms(thread.updated_at),
    }


def manifest_row_json(row: ManifestRow) -> dict[str, Any]:
    """Return a manifest of the list."""
    return {"name": row.name, "version": row.version, "bundled": row.is_bundled}


def manifest_json(name: str, version: ManifestVersion) -> dict[str, Any]:
    """Return a stored version of a manifest."""
    return {
        "name": name,
        "version": version.number,
        "content_hash": version.content_hash,
        "manifest": version.document,
        "text": version.text,
        "comment": version.comment,
        "created_by": version.created_by,
        "created_at": epoch_ms(version.created_at),
        "bundled": version.is_bundled,
    }
