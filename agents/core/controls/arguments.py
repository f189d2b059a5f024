"""First control: the call names a tool of this agent, with arguments that fit it."""

from __future__ import annotations

from typing import Any

from agents.core.controls.base import Candidate, Deny, Verdict
from agents.core.tools.base import Outcome, ToolFailed
from agents.core.tools.dispatch import validate
from approvals.core.gate import GateKind


def arguments(candidate: Candidate) -> Verdict | None:
    """The call's tool and validated arguments are known, or it is denied with what is wrong.

    A reviewer's edited arguments stand in for the model's, also where the edited call is asked
    about again, and are judged the same way.
    """
    call = candidate.call
    tool = candidate.policy.tools.get(call.tool)
    if tool is None:
        names = ", ".join(candidate.policy.tools)
        return Deny(
            candidate,
            Outcome.failed("unknown_tool", f"There is no tool {call.tool}. Tools: {names}."),
        )
    if call.args_error:
        return Deny(candidate, Outcome.failed("invalid_arguments", call.args_error))
    try:
        candidate.args = validate(tool, _asked_about(candidate))
    except ToolFailed as error:
        return Deny(candidate, Outcome.failed(error.code, error.message))
    candidate.tool, candidate.is_sound = tool, True
    return None


def _asked_about(candidate: Candidate) -> dict[str, Any]:
    gate = candidate.view.gates.get(candidate.call.call_id)
    if gate is None or gate.kind is not GateKind.APPROVAL:
        return candidate.call.args
    return gate.args if gate.edited_args is None else gate.edited_args
