"""The gate card: what waits for a person, in the order in which it is read, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.views.present.evidence import Evidence, present_evidence
from agents.views.present.faces import ANSWERED, Face, gate_face
from agents.views.present.target import target
from approvals.core.gate import GateKind, GateStatus

IF_DECIDED = (
    "If approved, this one call runs once and the run goes on. "
    "If denied, the agent is told and goes on."
)
IF_FIRST_OF_MANY = (
    "If approved, one more reviewer is needed before this one call runs. "
    "If denied, the agent is told and goes on."
)


BY_PEOPLE = frozenset({GateStatus.ANSWERED, GateStatus.DENIED})
WITHDRAWN_BECAUSE = {
    "evidence_changed": "What it asked about has changed, so it is asked again.",
    "left behind by a rewind": "Left behind by a rewind.",
    "run_stopped": "The run was stopped.",
    "run_expired": "The run expired.",
    "run_ended": "The run ended.",
}


@dataclass(frozen=True, slots=True)
class Vote:
    """One reviewer's approval so far."""

    by: str
    at_ms: int | None


@dataclass(frozen=True, slots=True)
class GateCard:
    """Everything the card shows. Times are epoch milliseconds.

    `notice` is one sentence about what just happened to an act on this card. `note` is what was
    decided with, or what the reviewer has typed so far. `is_whole` is False where the evidence is
    on the gate's own page only. `where` names the page that an answer goes
    back to: `thread`, `inbox` or `gate`.
    """

    gate_id: str
    kind: str
    thread_id: str
    run_id: str
    face: Face
    status: str
    tool: str
    target: str
    agent: str
    asked_ms: int | None
    expires_ms: int | None
    rule_id: str
    reason: str
    evidence: Evidence
    consequence: str
    needs: str
    votes: tuple[Vote, ...]
    decided_by: str
    decided_ms: int | None
    note: str
    why_not: str
    can_decide: bool
    digest: str
    revision: int
    because: str = ""
    is_edited: bool = False
    is_extendable: bool = False
    is_whole: bool = True
    notice: str = ""
    where: str = "gate"

    @property
    def can_extend(self) -> bool:
        """True where the reviewer may move the deadline."""
        return self.can_decide and self.is_extendable

    @property
    def is_waiting(self) -> bool:
        """True while somebody may still decide."""
        return self.status == GateStatus.WAITING

    @property
    def is_expired(self) -> bool:
        """True where time denied it."""
        return self.status == GateStatus.EXPIRED

    @property
    def seen(self) -> str:
        """What the form sends back where all evidence was on the page: the digest, else nothing."""
        return "" if self.evidence.is_unseen else self.digest

    @property
    def anchor(self) -> str:
        """Where an answer to Approve lands: the part that was folded, else the card."""
        return f"rest-{self.gate_id}" if self.evidence.is_unseen else f"gate-{self.gate_id}"


def _votes(gate: Mapping[str, Any]) -> tuple[Vote, ...]:
    return tuple(
        Vote(str(vote.get("by") or ""), vote.get("at")) for vote in gate.get("approvals") or ()
    )


def waits_on(gate: Mapping[str, Any], viewer: str) -> bool:
    """Return whether the gate waits for this person's word: they may decide it and have not yet."""
    return (
        bool(gate.get("can_decide"))
        and gate["status"] == GateStatus.WAITING
        and gate["kind"] == GateKind.APPROVAL
        and all(vote.get("by") != viewer for vote in gate.get("approvals") or ())
    )


def _why_not(gate: Mapping[str, Any], votes: tuple[Vote, ...], viewer: str) -> str:
    if gate["kind"] != GateKind.APPROVAL:
        return "The client that runs this agent answers this, not the panel."
    if any(vote.by == viewer for vote in votes):
        missing = int(gate.get("quorum") or 1) - len(votes)
        return f"You approved this. It runs once {missing} more reviewer{'s'[: missing > 1]} did."
    return str(gate.get("why_not") or "")


def _because(gate: Mapping[str, Any]) -> str:
    if gate["status"] == GateStatus.EXPIRED:
        return "Nobody decided before the deadline. The agent was told that it was denied."
    if gate["status"] != GateStatus.WITHDRAWN:
        return ""
    return WITHDRAWN_BECAUSE.get(
        str(gate.get("settled_because") or ""), "The run no longer needs it."
    )


def _needs(gate: Mapping[str, Any], votes: tuple[Vote, ...]) -> str:
    quorum = int(gate.get("quorum") or 1)
    if quorum < 2:
        return ""
    return f"{quorum} reviewers; {len(votes)} of {quorum} approved so far."


def _face(gate: Mapping[str, Any], viewer: str) -> Face:
    status = str(gate["status"])
    if status == GateStatus.ANSWERED and gate["kind"] != GateKind.APPROVAL:
        return ANSWERED
    return gate_face(status, waits_on_you=waits_on(gate, viewer))


def _consequence(gate: Mapping[str, Any], votes: tuple[Vote, ...]) -> str:
    missing = int(gate.get("quorum") or 1) - len(votes)
    return IF_FIRST_OF_MANY if missing > 1 else IF_DECIDED


def present_gate(
    gate: Mapping[str, Any],
    *,
    viewer: str,
    agent: str = "",
    where: str = "gate",
    is_unfolded: bool = False,
    notice: str = "",
    typed_note: str = "",
) -> GateCard:
    """Return the card of one gate of the wire.

    Args:
        viewer: The name of the member who looks.
        agent: `name@version` of the run that asks.
        is_unfolded: All evidence is on the page.
        notice: One sentence about an act that was not done, such as who decided first.
        typed_note: What the reviewer had typed when the card came back; it is never lost.
    """
    args = gate.get("args") if isinstance(gate.get("args"), dict) else {}
    evidence = present_evidence(gate.get("evidence") or {}, args or {}, is_unfolded=is_unfolded)
    votes = _votes(gate)
    is_waiting = gate["status"] == GateStatus.WAITING
    return GateCard(
        **_facts(gate),
        face=_face(gate, viewer),
        target=evidence.target or target(args),
        agent=agent,
        evidence=evidence,
        consequence=_consequence(gate, votes),
        needs=_needs(gate, votes),
        votes=votes if int(gate.get("quorum") or 1) > 1 else (),
        note=typed_note if is_waiting else str(gate.get("note") or ""),
        why_not=_why_not(gate, votes, viewer),
        can_decide=waits_on(gate, viewer),
        because=_because(gate),
        notice=notice,
        where=where,
    )


def _facts(gate: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the card takes from the wire as it stands; what is missing is empty."""
    names = ("thread_id", "run_id", "tool", "rule_id", "reason", "digest")
    return {
        **{name: str(gate.get(name) or "") for name in names},
        "gate_id": str(gate["gate_id"]),
        "kind": str(gate["kind"]),
        "status": str(gate["status"]),
        "asked_ms": gate.get("created_at"),
        "expires_ms": gate.get("expires_at"),
        "decided_by": str(gate.get("decided_by") or "") if gate["status"] in BY_PEOPLE else "",
        "decided_ms": gate.get("settled_at"),
        "revision": int(gate.get("revision") or 0),
        "is_edited": gate.get("edited_args") is not None,
        "is_extendable": bool(gate.get("extendable")),
        "is_whole": bool(gate.get("is_whole", True)),
    }
