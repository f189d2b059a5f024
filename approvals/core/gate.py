"""A gate.

The one thing a run waits for a person or a client on (L6), and the contract it holds (L7).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from felix_web.common.digests import digest


class GateKind(StrEnum):
    """What the run waits for."""

    APPROVAL = "approval"
    CLIENT_TOOL = "client_tool"
    QUESTION = "question"


class GateStatus(StrEnum):
    """Where a gate stands; everything but `waiting` is final."""

    WAITING = "waiting"
    ANSWERED = "answered"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class Decision(StrEnum):
    """What a reviewer says."""

    APPROVE = "approve"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Contract:
    """What an approval is bound to. A change in any part means: ask again.

    `preimage` is the digest of what the call would change, as the reviewer saw it, or empty;
    `principal` is set only where the rule binds it.
    """

    tenant_id: int
    run_id: str
    call_id: str
    tool: str
    args_digest: str
    tool_digest: str
    manifest: str
    manifest_version: int
    preimage: str = ""
    principal: str = ""

    @property
    def digest(self) -> str:
        """The digest a card shows and sends back."""
        return digest(
            [
                self.tenant_id,
                self.run_id,
                self.call_id,
                self.tool,
                self.args_digest,
                self.tool_digest,
                self.manifest,
                self.manifest_version,
                self.preimage,
                self.principal,
            ]
        )


@dataclass(frozen=True, slots=True)
class GateDraft:
    """A gate about to be opened. `ttl_seconds` counts from the database's clock."""

    kind: GateKind
    contract: Contract
    args: dict[str, Any]
    evidence: dict[str, Any]
    rule_id: str
    reason: str
    ttl_seconds: int
    reviewers: tuple[str, ...] = ()
    quorum: int = 1
    allow_self: bool = True
    extendable: bool = True
    one_shot: bool = True


@dataclass(frozen=True, slots=True)
class GateView:
    """A gate as the engine sees it. `is_spent` is True once an execution consumed it."""

    gate_id: str
    call_id: str
    kind: GateKind
    status: GateStatus
    contract: Contract
    args: dict[str, Any]
    rule_id: str = ""
    decided_by: str = ""
    note: str = ""
    edited_args: dict[str, Any] | None = None
    is_spent: bool = False
    evidence: dict[str, Any] = field(default_factory=dict)
