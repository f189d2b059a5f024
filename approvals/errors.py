"""What can go wrong with a decision.

Each carries the gate as it is, in `fields["gate"]`, where a surface adds it.
"""

from __future__ import annotations

from typing import ClassVar

from felix_web.common.errors import FelixError, Forbidden, InvalidInput


class AlreadyDecided(FelixError):
    """Somebody decided this gate before."""

    code: ClassVar[str] = "already_decided"
    title = "Already decided"


class GateExpired(FelixError):
    """The gate's time is over: it was denied by time."""

    code: ClassVar[str] = "gate_expired"
    title = "Denied by time"


class GateWithdrawn(FelixError):
    """The gate was withdrawn: its run was stopped, or what it asks about has changed."""

    code: ClassVar[str] = "gate_withdrawn"
    title = "Withdrawn"


class StaleGate(FelixError):
    """The gate is no longer what the card showed; nothing was decided."""

    code: ClassVar[str] = "stale_gate"
    title = "Not the gate you saw"
    hint = "Look at it again and decide on what it shows now."


class EvidenceChanged(FelixError):
    """What the call would change is no longer what the card showed.

    Nothing was decided, and it is asked again.
    """

    code: ClassVar[str] = "evidence_changed"
    title = "The evidence changed"
    hint = "A new gate shows the call as it would run now."


class NotAReviewer(Forbidden):
    """The rule names others to decide this."""

    code: ClassVar[str] = "not_a_reviewer"
    title = "Not a reviewer of this gate"


class NoSelfApproval(Forbidden):
    """The rule forbids deciding on a run one started oneself."""

    code: ClassVar[str] = "no_self_approval"
    title = "No self-approval"
    hint = "Another reviewer must decide."


class NeedsAMember(Forbidden):
    """A member must decide this gate, and a key without an owner is none."""

    code: ClassVar[str] = "needs_a_member"
    title = "Needs a member"
    hint = "Use a key that a member owns, or sign in."


class NotExtendable(FelixError):
    """The deadline of this gate cannot be moved."""

    code: ClassVar[str] = "not_extendable"
    title = "Not extendable"


class InvalidEdit(InvalidInput):
    """The edited arguments do not fit the tool."""

    code: ClassVar[str] = "invalid_edited_args"
    title = "Invalid edited arguments"
