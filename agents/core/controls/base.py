"""What a control looks at, and what it can say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents.core.store import GrantView
from agents.core.tools.base import Outcome, Tool, ToolArgs, ToolContext
from agents.core.view import RunView
from approvals.core.gate import GateDraft, GateView
from approvals.core.rules import ApprovalRule
from sessions.core.calls import Call


@dataclass(frozen=True, slots=True)
class Policy:
    """What the controls of one run go by."""

    tools: Mapping[str, Tool]
    rules: Sequence[ApprovalRule]
    grants: Sequence[GrantView]
    context: Callable[[str], ToolContext]

    def without(self, grant: GrantView | None) -> Policy:
        """Return the policy without a grant that does not hold any more; itself for None."""
        if grant is None:
            return self
        return replace(self, grants=[one for one in self.grants if one != grant])


@dataclass(slots=True)
class Candidate:
    """One call on its way through the front half. A stage may fill in what the next ones need.

    `tool` and `args` exist once the first stage found the call sound (`is_sound`). `ahead` are the
    earlier unfinished calls of the same message; `claimed_before` counts what comes before the call
    for the run's limit: those, and the calls that a person is being asked about. `is_resumed` is
    True for an execution that began before and is repeated: it needs no second start.
    """

    call: Call
    view: RunView
    policy: Policy
    ahead: Sequence[Candidate]
    claimed_before: int
    is_sound: bool = False
    tool: Tool = field(init=False)
    args: ToolArgs = field(init=False)
    gate: GateView | None = None
    grant: GrantView | None = None
    is_resumed: bool = False

    @property
    def target(self) -> str:
        """The one thing the call acts on, or "" where it has none or is not sound."""
        return self.tool.target(self.args) if self.is_sound else ""

    @property
    def args_json(self) -> dict[str, Any]:
        """The arguments as they were given, validated: what digests and logs are made of."""
        return self.args.model_dump(exclude_unset=True)


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may run now."""

    candidate: Candidate


@dataclass(frozen=True, slots=True)
class Deny:
    """The call does not run; its result is this."""

    candidate: Candidate
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Ask:
    """A person must say."""

    candidate: Candidate
    draft: GateDraft


@dataclass(frozen=True, slots=True)
class Later:
    """Not yet.

    A gate of the call waits, or an earlier call of the message may change what a reviewer would
    see.
    """

    candidate: Candidate


Verdict = Allow | Deny | Ask | Later
Stage = Callable[[Candidate], Verdict | None]
