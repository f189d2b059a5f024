"""The run's call limit: counted over the whole run, across claims."""

from __future__ import annotations

from agents.core.controls.base import Candidate, Deny, Verdict
from agents.core.tools.base import Outcome


def limits(candidate: Candidate) -> Verdict | None:
    """Deny the call that would be one too many."""
    allowed = candidate.view.facts.limits.max_tool_calls
    if candidate.view.executed + candidate.claimed_before < allowed:
        return None
    text = f"This run may make {allowed} tool calls and has made them. Finish with what you have."
    return Deny(candidate, Outcome.failed("limit", text))
