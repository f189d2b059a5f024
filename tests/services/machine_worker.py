"""A worker that goes by the real loop, one transaction at a time, on tools without files."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.core.asking import Answer, Model, ask
from agents.core.controls.base import Allow, Ask, Candidate, Deny, Policy
from agents.core.controls.front import evaluate
from agents.core.executing import batch_of, closed, denial, needs_own_start, riding_starts, start_of
from agents.core.limits import Limits
from agents.core.loop import CallModel, Finish, RunCalls, Wait, next_step
from agents.core.prompt import Prompt
from agents.core.providers import messages
from agents.core.providers.base import (
    AssistantTurn,
    Completed,
    ModelRequest,
    StreamItem,
    ToolCall,
    Turn,
    Usage,
)
from agents.core.providers.profiles import ModelProfile, ProviderProfile
from agents.core.store import CallClosed, GateSpent, LeaseLost
from agents.core.tools.base import Outcome, Tool, ToolArgs, ToolContext, ToolFailed
from agents.core.tools.dispatch import execute
from agents.core.view import RunView, calls_of
from agents.services import driving
from agents.services.claiming import Claimed, load_run
from approvals.core.rules import ApprovalRule
from approvals.selectors import gates_of_run
from felix_web.tenancy.scoping import tenant_snapshot
from sessions.core.calls import Call
from sessions.core.events import Event
from sessions.core.states import StopReason
from tests.fakes.issued import Issued
from tests.fakes.judge import judge

Calls = Sequence[tuple[str, str]]
"""What a model wants: tools, each with the path it is to act on."""

LIMITS = Limits(max_tool_calls=12, max_wall_clock_seconds=600, recursion_limit=12)
RULES = (
    ApprovalRule("gated", tools=("gated",)),
    ApprovalRule("granted", tools=("granted",), one_shot=False),
    ApprovalRule("two", tools=("two",), quorum=2),
)
PROFILE = ModelProfile("m", ProviderProfile("p", "http://127.0.0.1"), "m")


class PathArgs(ToolArgs):
    path: str
    text: str = "x"


@dataclass(slots=True)
class World:
    """What the tools act on. `effects` counts unsafe calls, `spent` starts under each gate."""

    values: dict[str, str] = field(default_factory=dict)
    effects: Counter[tuple[str, str]] = field(default_factory=Counter)
    spent: Counter[str] = field(default_factory=Counter)

    def now(self, path: str) -> str:
        return f"now:{self.values.get(path, '')}"

    def change(self, path: str) -> None:
        self.values[path] = self.values.get(path, "") + "!"

    def preimage(self, args: PathArgs, _: ToolContext) -> str:
        return self.now(args.path)

    def write(self, args: PathArgs, context: ToolContext) -> str:
        if context.preimage not in (None, self.preimage(args, context)):
            raise ToolFailed("evidence_changed", "It changed.")
        self.values[args.path] = self.values.get(args.path, "") + args.text
        return "done"

    def look(self, args: PathArgs, _: ToolContext) -> str:
        return self.values.get(args.path, "nothing")

    def tools(self) -> dict[str, Tool]:
        def writer(name: str) -> Tool:
            return Tool(
                name, name, PathArgs, self.write, preimage=self.preimage, target=lambda a: a.path
            )

        look = Tool("look", "look", PathArgs, self.look, read_only=True, target=lambda a: a.path)
        again = Tool("again", "again", PathArgs, self.look, replay_safe=True)
        writers = [writer(name) for name in ("act", "gated", "granted", "two")]
        return {tool.name: tool for tool in (look, again, *writers)}


class OneAnswer:
    """A model that gives one answer, with the ids call_0, call_1 and so on, again and again."""

    origin = "test"
    is_scripted = False

    def __init__(self, calls: Calls) -> None:
        made = [ToolCall(f"call_{n}", tool, {"path": path}) for n, (tool, path) in enumerate(calls)]
        self._turn = AssistantTurn("" if made else "That is all.", (), tuple(made))

    def render(self, turn: Turn) -> list[dict[str, Any]]:
        return messages.render_turn(turn, origin=self.origin)

    def render_system(self, text: str) -> list[dict[str, Any]]:
        return messages.render_system(text)

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamItem]:
        yield Completed(self._turn, StopReason.END_TURN, Usage(3, 2))


class NoSink:
    def begin(self, message_id: str) -> None: ...

    def text(self, message_id: str, more: str) -> None: ...

    def thinking(self, message_id: str, more: str) -> None: ...

    def end(self, message_id: str) -> None: ...


class StillClock:
    def now_ms(self) -> int:
        return 1

    def monotonic(self) -> float:
        return 1.0


def no_output(output_id: str, *, offset: int, limit: int) -> tuple[str, int] | None:
    return None


def refusals(prompt: Prompt) -> list[str]:
    """Return what the strictest provider would say to the prompt."""
    body = {"model": "m", "messages": prompt.messages()}
    return judge(body, issued=Issued(), account="a")


def new_prompt() -> Prompt:
    return Prompt(OneAnswer([]), system="Be brief.", tools=[])


class Worker:
    """A driver in slow motion: `step` makes one transaction at most, and may be its last."""

    def __init__(self, claimed: Claimed, world: World, *, parallel: bool) -> None:
        loaded = load_run(claimed=claimed, limits=LIMITS)
        self.claim = claimed.claim
        self.world = world
        self.parallel = parallel
        self.is_over = False
        self.prompt = new_prompt()
        tools = world.tools()
        read_only = frozenset(name for name, tool in tools.items() if tool.read_only)
        self.view = RunView(loaded.facts, read_only)
        self.policy = Policy(tools, RULES, loaded.grants, self._context)
        self._known: set[str] = set()
        self._running: list[Candidate] = []
        self._ended: list[CallClosed] = []
        self._take(loaded.events)
        self.view.take_gates(loaded.gates)

    def _context(self, call_id: str) -> ToolContext:
        return ToolContext(None, call_id, time.monotonic() + 60, no_output)

    def _take(self, events: Sequence[Event]) -> None:
        for event in events:
            self.view.apply(event)
            self.prompt.add(event)
            self._known.update(call.call_id for call in calls_of(event))

    def step(self, answer: Calls) -> None:
        """Do the next thing; over once the run is parked, ended, or another's."""
        try:
            self._step(answer)
        except LeaseLost:
            self.is_over = True

    def _step(self, answer: Calls) -> None:
        if self._ended:
            ends, self._ended = self._ended[:1], self._ended[1:]
            self._take(driving.result(self.claim, ends, ()))
        elif self._running:
            self._ended = [self._run(candidate) for candidate in self._running]
            self._running = []
        else:
            self._follow_the_loop(answer)

    def _follow_the_loop(self, answer: Calls) -> None:
        match next_step(self.view, active_ms=0):
            case CallModel():
                self._answer(answer)
            case RunCalls(calls) if self._run_calls(calls):
                pass
            case RunCalls() | Wait():
                self.is_over = driving.park(self.claim, active_ms=0)
                self._read_gates()
            case Finish() as end:
                driving.finish(self.claim, end, final_text=self.view.final_text, active_ms=0)
                self.is_over = True

    def _answer(self, calls: Calls) -> None:
        assert refusals(self.prompt) == []
        got = asyncio.run(self._ask(OneAnswer(calls)))
        verdicts = evaluate(calls_of(got.event), self.view, self.policy)
        starts = riding_starts(verdicts, parallel=self.parallel)
        self._take(driving.answer(self.claim, got.event, got.metered, starts))

    async def _ask(self, provider: OneAnswer) -> Answer:
        return await ask(
            Model(provider, PROFILE, (), None, None),
            self.prompt,
            self.view,
            known_call_ids=self._known,
            deadline_seconds=1.0,
            sink=NoSink(),
            clock=StillClock(),
        )

    def _run_calls(self, calls: Sequence[Call]) -> bool:
        verdicts = evaluate(calls, self.view, self.policy)
        refused = [denial(verdict) for verdict in verdicts if isinstance(verdict, Deny)]
        drafts = [verdict.draft for verdict in verdicts if isinstance(verdict, Ask)]
        if refused:
            self._take(driving.result(self.claim, refused, ()))
        elif drafts:
            driving.ask(self.claim, drafts)
            self._read_gates()
        else:
            return self._begin([verdict for verdict in verdicts if isinstance(verdict, Allow)])
        return True

    def _begin(self, allowed: list[Allow]) -> bool:
        batch = batch_of(allowed, parallel=self.parallel)
        if batch and needs_own_start(batch[0]) and not self._start(batch[0]):
            return True
        self._running = batch
        return bool(batch)

    def _start(self, candidate: Candidate) -> bool:
        begun = start_of(candidate)
        try:
            self._take(driving.start(self.claim, begun))
        except GateSpent:
            self.policy = self.policy.without(candidate.grant)
            self._read_gates()
            return False
        if begun.gate_id:
            self.world.spent[begun.gate_id] += 1
        return True

    def _run(self, candidate: Candidate) -> CallClosed:
        context = self._context(candidate.call.call_id)
        if candidate.gate is not None:
            context.preimage = candidate.gate.contract.preimage or None
        outcome: Outcome = execute(candidate.tool, candidate.args, context)
        if not candidate.tool.is_replay_safe:
            self.world.effects[self.claim.run_id, candidate.call.call_id] += 1
        return closed(candidate, outcome, started_ms=1)

    def _read_gates(self) -> None:
        with tenant_snapshot(self.claim.tenant_id):
            self.view.take_gates(gates_of_run(run_id=self.claim.run_id))
