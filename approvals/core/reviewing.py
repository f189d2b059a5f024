"""Who may decide a gate, and what a decision makes of it. Pure: rows in, an answer out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from approvals.core.gate import Decision, GateStatus
from approvals.core.rules import DEFAULT_REVIEWERS


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Somebody about to decide. `identity` is the membership, or a key of nobody.

    `role` is empty for the latter.
    """

    identity: str
    role: str
    is_member: bool


@dataclass(frozen=True, slots=True)
class Terms:
    """What a gate demands of those who decide it.

    `starter` is the identity that started the run, `owner` the one that owns the thread.
    """

    reviewers: tuple[str, ...]
    quorum: int
    allow_self: bool
    starter: str
    owner: str


def why_not(terms: Terms, reviewer: Reviewer) -> str:
    """Return the error code that keeps the reviewer from deciding, or "" where nothing does.

    A key of nobody has no role: its scope stands for one only where the rule asks for nothing in
    particular, and never on a run or a thread of its own.
    """
    is_starter = reviewer.identity in (terms.starter, terms.owner)
    if not reviewer.is_member:
        return "needs_a_member" if is_starter or _is_particular(terms) else ""
    if is_starter and not terms.allow_self:
        return "no_self_approval"
    if reviewer.role in terms.reviewers:
        return ""
    owns = terms.allow_self and reviewer.identity == terms.owner and reviewer.role != "viewer"
    return "" if owns else "not_a_reviewer"


def _is_particular(terms: Terms) -> bool:
    reviewers = frozenset(terms.reviewers)
    return terms.quorum > 1 or not terms.allow_self or reviewers != frozenset(DEFAULT_REVIEWERS)


def outcome(quorum: int, decisions: Sequence[Decision]) -> GateStatus:
    """Return what the decisions so far, one a member, make of the gate.

    One denial denies, a quorum approves.
    """
    if Decision.DENY in decisions:
        return GateStatus.DENIED
    approvals = sum(decision is Decision.APPROVE for decision in decisions)
    return GateStatus.ANSWERED if approvals >= quorum else GateStatus.WAITING
