"""A run of any number of steps: the real driver and bridge, and a model that answers at once."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import connection

from agents.core.asking import Model
from agents.core.controls.base import Policy
from agents.core.driver import Driver
from agents.core.limits import Limits
from agents.core.ports import Ports
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
from agents.core.providers.profiles import ModelProfile, Price, ProviderProfile
from agents.core.tools.base import Tool, ToolArgs, ToolContext
from agents.core.view import RunView
from agents.deltas import DeltaSink
from agents.runtime import SystemClock, ToolThreads, contexts_for
from agents.services.claiming import Claimed, take_run
from agents.services.manifests import compiled_version, version_of
from agents.services.sending import Message, send
from agents.store import Bridge, ClaimedStore
from felix_web.tenancy.principal import Principal
from sessions.core.states import StopReason

RESULT_BYTES = 1024
LEASE_SECONDS = 8.0


class NoteArgs(ToolArgs):
    """Arguments of the measured tool."""

    number: int


def _note(args: NoteArgs, context: ToolContext) -> str:
    head = f"result {args.number} "
    return head + "x" * (RESULT_BYTES - len(head))


def note_tool(*, replay_safe: bool) -> Tool:
    """Return a tool that returns 1 KB and does nothing."""
    return Tool("note", "Returns a note.", NoteArgs, _note, replay_safe=replay_safe)


async def _nothing() -> None:
    """Between two steps nothing is done."""


@dataclass(slots=True)
class InstantModel:
    """A Provider in this process: one call per answer, then a last word.

    A step is from one answer to the next question; what `between` does before each answer is no
    part of it. `took_ms` is by the wall, `cpu_ms` the processor time of all threads.
    """

    steps: int
    between: Callable[[], Awaitable[None]] = _nothing
    origin: str = "benchmark"
    is_scripted: bool = False
    took_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    _began: tuple[float, float] | None = None
    _asked: int = 0

    def render(self, turn: Turn) -> list[dict[str, Any]]:
        """See Provider.render."""
        return messages.render_turn(turn, origin=self.origin)

    def render_system(self, text: str) -> list[dict[str, Any]]:
        """See Provider.render_system."""
        return messages.render_system(text)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        """See Provider.stream."""
        self._end_step()
        await self.between()
        number = self._asked
        self._asked += 1
        self._began = time.perf_counter(), time.process_time()
        usage = Usage(input=1200, output=30, cache_read=1000)
        if number >= self.steps:
            yield Completed(AssistantTurn("That is all."), StopReason.END_TURN, usage)
            return
        call = ToolCall(f"call_{number}", "note", {"number": number})
        turn = AssistantTurn(f"Step {number}.", calls=(call,))
        yield Completed(turn, StopReason.TOOL_USE, usage)

    def _end_step(self) -> None:
        if self._began is None:
            return
        wall, cpu = self._began
        self.took_ms.append((time.perf_counter() - wall) * 1000)
        self.cpu_ms.append((time.process_time() - cpu) * 1000)


@dataclass(frozen=True, slots=True)
class Bound:
    """A claimed run with everything a driver of it needs."""

    claimed: Claimed
    driver: Driver
    model: InstantModel


def _drop(thread_id: int, frame: dict[str, Any]) -> None:
    """Nobody reads along."""


def claimed_run(principal: Principal, thread: str) -> Claimed:
    """Return a run that was sent and claimed like any other."""
    run = send(principal=principal, message=Message("quick", ("Take notes.",), thread)).run
    claimed = take_run(run_id=run.pk, owner="benchmark", lease_seconds=LEASE_SECONDS)
    assert claimed is not None
    return claimed


async def bound(
    claimed: Claimed, bridge: Bridge, threads: ToolThreads, *, steps: int, replay_safe: bool
) -> Bound:
    """Return the claimed run bound as the engine does, but to the instant model and wide limits."""
    limits = Limits(steps + 1, 3600, steps + 2)
    store = ClaimedStore(bridge=bridge, claimed=claimed, limits=limits)
    loaded = await store.load()
    model, tool = InstantModel(steps), note_tool(replay_safe=replay_safe)
    facts = loaded.facts
    agent = await bridge.run(partial(_agent, claimed))
    contexts = contexts_for(
        agent=agent,
        tenant_id=facts.tenant_id,
        tenant_slug=facts.tenant_slug,
        thread=facts.thread,
        thread_id=facts.thread_pk,
    )
    profile = ModelProfile(
        "benchmark", ProviderProfile("benchmark", ""), "none", price=Price(3.0, 15.0, 0.3, 3.75)
    )
    sink = DeltaSink(thread_id=facts.thread_pk, run_id=facts.run_id, publish=_drop)
    driver = Driver(
        view=RunView(facts, frozenset()),
        prompt=Prompt(model, system=agent.system_prompt, tools=(tool.spec,)),
        model=Model(model, profile, (tool.spec,), None, None),
        policy=Policy({"note": tool}, (), (), contexts),
        ports=Ports(store, sink, threads, SystemClock(), contexts),
    )
    driver.take(loaded.events)
    store.active_ms = driver.active_ms
    store.final_text = lambda: driver.view.final_text
    return Bound(claimed, driver, model)


def _agent(claimed: Claimed) -> Any:
    run = claimed.run
    version = version_of(tenant_id=run.tenant_id, name=run.manifest, number=run.manifest_version)
    return compiled_version(version)


def close_connection() -> None:
    """The connection of this thread is closed; for the bridge's thread at its end."""
    connection.close()
