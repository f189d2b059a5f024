"""What REST answers, for the OpenAPI document; the tests hold every answer against it."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from ninja import Schema
from pydantic import ConfigDict

from approvals.core.gate import GateKind, GateStatus
from sessions.core.states import RunStatus

T = TypeVar("T")


class Answer(Schema):
    """Every member is named here."""

    model_config = ConfigDict(extra="forbid")


class FailureOut(Answer):
    """Why a run failed."""

    code: str
    message: str


class FinalOut(Answer):
    """The last message of a run that is done."""

    role: Literal["assistant"]
    content: str


class UsageOut(Answer):
    """Tokens and cost so far; `cost_usd` null: a price is not known; `certain` false: a provider
    reported none.
    """

    input: int
    output: int
    cache_read: int
    cache_write: int
    cost_usd: float | None
    certain: bool


class RunOut(Answer):
    """A run. Times are epoch milliseconds."""

    run_id: str
    resume_token: str
    status: RunStatus
    reason: str
    stop_reason: str
    error: FailureOut | None
    usage: UsageOut
    manifest: str
    version: int
    model: str
    mode: str
    scripted: bool
    created_at: int
    finished_at: int | None
    expires_at: int


class GateOut(Answer):
    """A gate, as its frame carries it. `can_decide` and `why_not` are about whoever asks."""

    gate_id: str
    kind: GateKind
    run_id: str
    thread_id: str | None
    call_id: str
    tool: str
    args: dict[str, Any]
    edited_args: dict[str, Any] | None
    evidence: dict[str, Any]
    rule_id: str
    reason: str
    manifest: str
    version: int
    digest: str
    revision: int
    status: GateStatus
    created_at: int
    expires_at: int
    settled_at: int | None
    settled_because: str
    decided_by: str
    note: str
    quorum: int
    extendable: bool
    reviewers: list[str]
    approvals: list[dict[str, Any]]
    can_decide: bool
    why_not: str


class GrantOut(Answer):
    """A standing permission for the call its gate shows; `is_bound`: for one principal only."""

    grant_id: str
    gate_id: str
    thread_id: str | None
    manifest: str
    version: int
    rule_id: str
    tool: str
    is_bound: bool
    granted_by: str
    is_live: bool
    created_at: int
    expires_at: int
    revoked_at: int | None


class EndedOut(Answer):
    """A transient run that has ended."""

    thread_id: str | None
    run: RunOut
    final: FinalOut | None
    gates: list[GateOut]


class AcceptedOut(Answer):
    """A run that goes on without the caller; `GET /api/chat/runs/{resume_token}` tells how it
    stands.
    """

    status: Literal["accepted"]
    resume_token: str
    thread_id: str | None
    expires_at: int


class RunStateOut(Answer):
    """How a run stands."""

    status: RunStatus
    resume_token: str
    thread_id: str | None
    final: FinalOut | None
    error: FailureOut | None
    scripted: bool
    expires_at: int


class AbortOut(Answer):
    """What an abort did: `aborted` false where nothing was going."""

    ok: bool
    aborted: bool
    thread_id: str
    snapshot: dict[str, Any]


class ThreadOut(Answer):
    """A thread of the list; `status` null: no run is going. `scripted`: its newest run is
    the demo model's.
    """

    thread_id: str
    name: str
    manifest: str
    status: RunStatus | None
    scripted: bool
    leaf_seq: int
    created_at: int
    updated_at: int


class HistoryOut(Answer):
    """A window of a thread's events, oldest first; `oldest_seq` is the next page's `before_seq`,
    null: no event.
    """

    thread_id: str
    events: list[dict[str, Any]]
    oldest_seq: int | None
    has_more: bool


class ManifestNameOut(Answer):
    """A manifest of the list; `version` null: it ships with Felix and was not used yet."""

    name: str
    version: int | None
    bundled: bool


class ManifestOut(Answer):
    """A stored version. `text` is as it was written, `manifest` what it says."""

    name: str
    version: int
    content_hash: str
    manifest: dict[str, Any]
    text: str
    comment: str
    created_by: str
    created_at: int
    bundled: bool


class ListOut(Answer, Generic[T]):
    """A page of a list; `next_cursor` null: the last one."""

    items: list[T]
    next_cursor: str | None


class ProblemOut(Schema):
    """An error (RFC 9457). `code` is stable; further members depend on it."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    hint: str = ""
