"""Binds the core's ports to the rooms: from a claimed run to a driver ready to go."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from django.conf import settings
from django.db import connection

from agents.core.asking import Model
from agents.core.compile import CompiledAgent
from agents.core.controls.base import Policy
from agents.core.driver import Driver
from agents.core.ports import Ports
from agents.core.prompt import Prompt
from agents.core.providers.profiles import ModelProfile
from agents.core.store import Loaded
from agents.core.tools.base import Tool, ToolContext
from agents.core.tools.paths import WorkspaceScope
from agents.core.tools.registry import bound_tools
from agents.core.tools.workspace import DirectoryWorkspace, open_workspace
from agents.core.view import RunView
from agents.deltas import DeltaSink, Publish
from agents.profiles import deployment_models, provider_for
from agents.services.claiming import Claimed
from agents.services.manifests import compiled_version, version_of
from agents.store import Bridge, ClaimedStore
from felix_web.tenancy.scoping import tenant_snapshot
from sessions.selectors import output_window

T = TypeVar("T")


class SystemClock:
    """The machine's clocks."""

    def now_ms(self) -> int:
        """See Clock.now_ms."""
        return int(time.time() * 1000)

    def monotonic(self) -> float:
        """See Clock.monotonic."""
        return time.monotonic()


class ToolThreads:
    """The threads that tool bodies and controls run on."""

    def __init__(self, size: int) -> None:
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="felix-tool")

    async def run(self, work: Callable[[], T]) -> T:
        """See Threads.run."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """No more work is taken."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def agent_tools(agent: CompiledAgent) -> dict[str, Tool]:
    """Return an agent's tools in the fixed order, with the one that pages outputs."""
    return dict(bound_tools(agent.tools))


@dataclass(frozen=True, slots=True)
class Contexts:
    """Makes what a call may use: its workspace, and the stored outputs of its own thread."""

    tenant_id: int
    thread_id: int
    workspace: DirectoryWorkspace

    def __call__(self, call_id: str) -> ToolContext:
        """Return the context of one call."""
        return ToolContext(
            workspace=self.workspace,
            call_id=call_id,
            deadline=time.monotonic() + 60,
            read_output=self._read_output,
        )

    def _read_output(self, output_id: str, *, offset: int, limit: int) -> tuple[str, int] | None:
        try:
            with tenant_snapshot(self.tenant_id):
                return output_window(
                    thread_id=self.thread_id, public_id=output_id, offset=offset, limit=limit
                )
        finally:
            connection.close()


def contexts_for(
    *, agent: CompiledAgent, tenant_id: int, tenant_slug: str, thread: str, thread_id: int
) -> Contexts:
    """Return the maker of call contexts for a thread of an agent."""
    scope = WorkspaceScope(agent.workspace_scope)
    workspace = open_workspace(settings.DATA_DIR, tenant_slug, scope, thread)
    return Contexts(tenant_id, thread_id, workspace)


@dataclass(frozen=True, slots=True)
class Workbench:
    """What every driver of a process shares."""

    bridge: Bridge
    threads: ToolThreads
    publish: Publish


def _agent_of(claimed: Claimed) -> CompiledAgent:
    run = claimed.run
    version = version_of(tenant_id=run.tenant_id, name=run.manifest, number=run.manifest_version)
    return compiled_version(version)


async def driver_for(claimed: Claimed, bench: Workbench) -> Driver:
    """Return the driver of a claimed run, with its whole branch read.

    Raises:
        FelixError: its manifest or its model cannot be used by this process.
        StoreUnavailable: the database could not be read.
    """
    agent = await bench.bridge.run(partial(_agent_of, claimed))
    profile = deployment_models().model(claimed.run.model)
    limits = agent.limits.within(profile.max_turns)
    store = ClaimedStore(
        bridge=bench.bridge,
        claimed=claimed,
        limits=limits,
        shares_files=agent.workspace_scope != WorkspaceScope.THREAD,
    )
    loaded = await store.load()
    driver = _driver(agent, profile, loaded, store, bench)
    store.active_ms = driver.active_ms
    store.final_text = lambda: driver.view.final_text
    store.is_usage_lost = lambda: driver.view.is_usage_lost
    return driver


def _driver(
    agent: CompiledAgent,
    profile: ModelProfile,
    loaded: Loaded,
    store: ClaimedStore,
    bench: Workbench,
) -> Driver:
    tools = agent_tools(agent)
    provider = provider_for(profile)
    specs = tuple(tool.spec for tool in tools.values())
    facts = loaded.facts
    contexts = contexts_for(
        agent=agent,
        tenant_id=facts.tenant_id,
        tenant_slug=facts.tenant_slug,
        thread=facts.thread,
        thread_id=facts.thread_pk,
    )
    sink = DeltaSink(thread_id=facts.thread_pk, run_id=facts.run_id, publish=bench.publish)
    driver = Driver(
        view=RunView(facts, frozenset(name for name, tool in tools.items() if tool.read_only)),
        prompt=Prompt(provider, system=agent.system_prompt, tools=specs),
        model=Model(provider, profile, specs, agent.temperature, agent.max_tokens),
        policy=Policy(tools, agent.rules, loaded.grants, contexts),
        ports=Ports(store, sink, bench.threads, SystemClock(), contexts),
        parallel=agent.parallel_tools,
    )
    driver.take(loaded.events)
    driver.view.take_gates(loaded.gates)
    return driver
