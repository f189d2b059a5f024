"""Views, events, gates and tools to make a case of, each with what a test need not say."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from agents.core.controls.base import Policy
from agents.core.limits import Limits
from agents.core.store import GrantView
from agents.core.tools.base import Tool, ToolArgs, ToolContext
from agents.core.view import RunFacts, RunView
from approvals.core.gate import Contract, GateKind, GateStatus, GateView
from approvals.core.rules import ApprovalRule
from felix_web.common.digests import digest
from sessions.core.events import Event, EventKind
from sessions.core.states import CallStatus, RunMode, StopReason

RUN = "run_1"
LIMITS = Limits(max_tool_calls=5, max_wall_clock_seconds=60, recursion_limit=3)


class PathArgs(ToolArgs):
    path: str
    text: str = ""


def run_facts(limits: Limits = LIMITS, **more: Any) -> RunFacts:
    given: dict[str, Any] = {
        "run_id": RUN,
        "tenant_id": 1,
        "tenant_slug": "acme",
        "thread": "t1",
        "thread_pk": 1,
        "branch": 0,
        "fence": 1,
        "manifest": "writer",
        "manifest_version": 1,
        "mode": RunMode.DURABLE,
        "is_attended": True,
        "principal": "member:1",
        "limits": limits,
    }
    return RunFacts(**{**given, **more})


def view(
    *events: Event, limits: Limits = LIMITS, gates: Sequence[GateView] = (), **more: Any
) -> RunView:
    made = RunView(run_facts(limits, **more), frozenset({"look"}))
    for event in events:
        made.apply(event)
    made.take_gates(gates)
    return made


def event(kind: EventKind, payload: dict[str, Any], *, call_id: str = "", run: str = RUN) -> Event:
    return Event(0, 0, kind, run, 0, payload, message_id="m", call_id=call_id)


def said(text: str = "go") -> Event:
    return event(EventKind.USER_MESSAGE, {"content": text})


def answered(*calls: str, text: str = "", stop: StopReason | None = None, run: str = RUN) -> Event:
    """An answer with these calls, each written `tool` or `tool:path`; ids are c0, c1, ..."""
    made = [_call(n, *call.split(":")) for n, call in enumerate(calls)]
    reason = stop or (StopReason.TOOL_USE if calls else StopReason.END_TURN)
    payload = {"content": text, "tool_calls": made, "stop_reason": reason.value}
    return event(EventKind.ASSISTANT_MESSAGE, payload, run=run)


def _call(number: int, tool: str, path: str = "a") -> dict[str, Any]:
    return {"id": f"c{number}", "name": tool, "args": {"path": path}}


def started(call_id: str, run: str = RUN, *, tool: str = "again", **other: Any) -> Event:
    """The call of `tool a` began as this build would begin it, but for the `other` parts."""
    made = tools()[tool]
    begun = {
        "tool_digest": made.digest,
        "args_digest": digest({"path": "a"}),
        "replay_safe": made.is_replay_safe,
    }
    return event(EventKind.CALL_STARTED, {**begun, **other}, call_id=call_id, run=run)


def result(call_id: str, status: CallStatus = CallStatus.DONE, content: str = "ok") -> Event:
    payload = {"status": status.value, "content": content}
    return event(EventKind.TOOL_RESULT, payload, call_id=call_id)


def tools(world: dict[str, str] | None = None) -> dict[str, Tool]:
    """look (read-only), again (replay-safe), act and write (effects; write has a pre-image)."""
    values = {} if world is None else world

    def run(args: PathArgs, _: ToolContext) -> str:
        values[args.path] = args.text
        return f"did {args.path}"

    def target(args: PathArgs) -> str:
        return args.path

    def preimage(args: PathArgs, _: ToolContext) -> str:
        return values.get(args.path, "absent")

    return {
        "look": Tool("look", "look", PathArgs, run, read_only=True, target=target),
        "again": Tool("again", "again", PathArgs, run, replay_safe=True),
        "act": Tool("act", "act", PathArgs, run),
        "write": Tool("write", "write", PathArgs, run, preimage=preimage, target=target),
    }


def context(call_id: str = "c0") -> ToolContext:
    def no_output(output_id: str, *, offset: int, limit: int) -> tuple[str, int] | None:
        return None

    return ToolContext(None, call_id, time.monotonic() + 60, no_output)


def policy(
    *rules: ApprovalRule,
    world: dict[str, str] | None = None,
    grants: Sequence[GrantView] = (),
    known: dict[str, Tool] | None = None,
) -> Policy:
    return Policy(known or tools(world), rules, grants, context)


def contract(call_id: str = "c0", tool: str = "write", **more: Any) -> Contract:
    """What an approval of `tool a` is bound to, in the world that `tools` begins with."""
    made = tools()[tool]
    given: dict[str, Any] = {
        "tenant_id": 1,
        "run_id": RUN,
        "call_id": call_id,
        "tool": tool,
        "args_digest": digest({"path": "a"}),
        "tool_digest": made.digest,
        "manifest": "writer",
        "manifest_version": 1,
        "preimage": "absent" if made.preimage else "",
    }
    return Contract(**{**given, **more})


def gate(
    call_id: str = "c0",
    status: GateStatus = GateStatus.WAITING,
    *,
    tool: str = "write",
    bound: Contract | None = None,
    **more: Any,
) -> GateView:
    bound = bound or contract(call_id, tool)
    args = more.pop("args", {"path": "a"})
    more.setdefault("rule_id", "writes")
    return GateView("gate_1", call_id, GateKind.APPROVAL, status, bound, args, **more)
