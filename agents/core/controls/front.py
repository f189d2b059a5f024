"""Runs calls through the front half.

Files are read here, so it runs on a thread, never on the loop.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from agents.core.controls import FRONT_HALF
from agents.core.controls.arguments import arguments
from agents.core.controls.base import Allow, Candidate, Deny, Policy, Verdict
from agents.core.tools.base import INTERRUPTED, Outcome, definition_digest
from agents.core.view import RunView
from felix_web.common.digests import digest
from sessions.core.calls import Call
from sessions.core.states import CallStatus

log = logging.getLogger(__name__)


def evaluate(calls: Sequence[Call], view: RunView, policy: Policy) -> list[Verdict]:
    """Return a verdict for each call, in the model's order.

    A control that cannot be evaluated denies (L13).
    """
    verdicts: list[Verdict] = []
    ahead: list[Candidate] = []
    asked = _asked_besides(calls, view)
    for call in calls:
        candidate = Candidate(call, view, policy, tuple(ahead), asked + len(ahead))
        verdict = _judge(candidate)
        verdicts.append(verdict)
        if not isinstance(verdict, Deny):
            ahead.append(candidate)
    return verdicts


def _asked_besides(calls: Sequence[Call], view: RunView) -> int:
    """Return how many other calls of the message a person is asked about.

    They keep their place in the run's limit, so that nobody is asked about a call in vain.
    """
    judged = {call.call_id for call in calls}
    return sum(view.waits(call) for call in view.open_calls.values() if call.call_id not in judged)


def _judge(candidate: Candidate) -> Verdict:
    try:
        if (verdict := _resumed(candidate)) is not None:
            return verdict
        for stage in FRONT_HALF:
            if (verdict := stage(candidate)) is not None:
                return verdict
    except Exception as error:
        log.exception(
            "control_failed",
            extra={"call_id": candidate.call.call_id, "error": type(error).__name__},
        )
        text = "A control could not be evaluated, so the call was not run."
        return Deny(candidate, Outcome(f"[error/denied] {text}", CallStatus.DENIED))
    return Allow(candidate)


def _resumed(candidate: Candidate) -> Verdict | None:
    """Return what becomes of a started call without a result; None: it is judged like any other.

    An execution that is harmless to repeat goes on under what allowed it, which was spent when it
    began; of any other the effect is unknown (L3). Where its definition or its arguments are not
    those it began with, it is not that execution any more, and all controls decide anew (L7).
    """
    begun = candidate.view.started.get(candidate.call.call_id)
    if begun is None:
        return None
    tool = candidate.policy.tools.get(candidate.call.tool)
    if tool is None or not (tool.is_replay_safe and begun.is_replay_safe):
        return Deny(candidate, Outcome(INTERRUPTED, CallStatus.INTERRUPTED))
    if (verdict := arguments(candidate)) is not None:
        return verdict
    now = (definition_digest(tool), digest(candidate.args_json))
    if now != (begun.tool_digest, begun.args_digest):
        return None
    candidate.is_resumed = True
    return Allow(candidate)
