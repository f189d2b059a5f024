"""First control: the call names a tool of this agent, with arguments that fit it."""

from __future__ import annotations

from agents.core.controls.base import Candidate, Deny, Verdict
from agents.core.tools.base import Outcome, ToolFailed
from agents.core.tools.dispatch import validate


def arguments(candidate: Candidate) -> Verdict | None:
    """The call's tool and validated arguments are known, or it is denied with what is wrong.

    A reviewer's edited arguments stand in for the model's, and are judged the same way.
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
    gate = candidate.view.gates.get(call.call_id)
    edited = gate.edited_args if gate is not None else None
    try:
        candidate.args = validate(tool, call.args if edited is None else edited)
    except ToolFailed as error:
        return Deny(candidate, Outcome.failed(error.code, error.message))
    candidate.tool, candidate.is_sound = tool, True
    return None
