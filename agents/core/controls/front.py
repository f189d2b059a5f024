"""Runs calls through the front half.

Files are read here, so it runs on a thread, never on the loop.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from agents.core.controls import FRONT_HALF
from agents.core.controls.base import Allow, Candidate, Deny, Policy, Verdict
from agents.core.tools.base import INTERRUPTED, Outcome
from agents.core.view import RunView
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
    if candidate.call.call_id in candidate.view.started:
        return _after_a_crash(candidate)
    try:
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


def _after_a_crash(candidate: Candidate) -> Verdict:
    """A started call without a result.

    Run it again where that is harmless, else its effect is unknown (L3).
    """
    tool = candidate.policy.tools.get(candidate.call.tool)
    if tool is None or not tool.is_replay_safe:
        return Deny(candidate, Outcome(INTERRUPTED, CallStatus.INTERRUPTED))
    for stage in FRONT_HALF[:1]:
        if (verdict := stage(candidate)) is not None:
            return verdict
    return Allow(candidate)
