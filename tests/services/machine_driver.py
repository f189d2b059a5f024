"""The real driver on the real store, with a model that follows a list and hooks around commits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import connection

from agents.core.driver import Driver
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
from agents.runtime import ToolThreads, Workbench, driver_for
from agents.services.claiming import Claimed, take_run
from agents.services.deciding import Word, decide
from agents.store import Bridge
from approvals.core.gate import Decision
from approvals.models import Gate
from felix_web.tenancy.principal import Principal
from sessions.core.states import StopReason
from sessions.models import Run
from tests.fakes.issued import Issued
from tests.fakes.judge import judge

THREADS = 4
Hook = Callable[[], object]


def call(name: str, call_id: str = "", **args: Any) -> ToolCall:
    return ToolCall(call_id or f"call_{name}_{len(args)}", name, args)


def write(path: str, content: str, call_id: str) -> ToolCall:
    return ToolCall(call_id, "write_file", {"path": path, "content": content})


@dataclass
class Script:
    """A model that gives these answers, each a list of calls or a text; it judges each prompt."""

    answers: list[list[ToolCall] | str]
    prompts: list[list[dict[str, Any]]] = field(default_factory=list)
    each: Hook = lambda: None
    origin: str = "test"
    is_scripted: bool = False

    def render(self, turn: Turn) -> list[dict[str, Any]]:
        return messages.render_turn(turn, origin=self.origin)

    def render_system(self, text: str) -> list[dict[str, Any]]:
        return messages.render_system(text)

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamItem]:
        sent = list(request.messages)
        assert judge({"model": "m", "messages": sent}, issued=Issued(), account="a") == []
        self.prompts.append(sent)
        self.each()
        said = self.answers.pop(0)
        calls = () if isinstance(said, str) else tuple(said)
        text = said if isinstance(said, str) else ""
        yield Completed(AssistantTurn(text, (), calls), StopReason.END_TURN, Usage(3, 2))

    def results(self) -> list[str]:
        """What the model read of the calls, in the newest prompt."""
        return [m["content"] for m in self.prompts[-1] if m["role"] == "tool"]


class Hooked:
    """The store, with something else happening just before or just after its transactions."""

    def __init__(self, store: Any, before: dict[str, Hook], after: dict[str, Hook]) -> None:
        self._store, self._before, self._after = store, before, after

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def with_hooks(*args: Any, **more: Any) -> Any:
            await asyncio.to_thread(on_own_connection, self._before.pop(name, _nothing))
            answer = await method(*args, **more)
            await asyncio.to_thread(on_own_connection, self._after.pop(name, _nothing))
            return answer

        return with_hooks


def _nothing() -> None:
    """Nothing happens."""


def on_own_connection(work: Hook) -> object:
    """Return what the work returns, done on a connection that is closed behind it."""
    try:
        return work()
    finally:
        connection.close()


@contextmanager
def workbench() -> Iterator[Workbench]:
    """A process's bridge and threads, gone afterwards with their connections."""
    writers = 1 if connection.vendor == "sqlite" else THREADS
    bench = Workbench(Bridge(writers), ToolThreads(THREADS), lambda *_: None)
    try:
        yield bench
    finally:
        on_each_thread(bench.bridge._pool, writers, let_go)
        on_each_thread(bench.threads._pool, THREADS, let_go)
        bench.bridge.close()
        bench.threads.close()


def let_go() -> None:
    """The calling thread's connection is closed."""
    connection.close()


def on_each_thread(pool: ThreadPoolExecutor, size: int, work: Hook) -> None:
    """The work was done once on every thread of the pool."""
    together = threading.Barrier(size)

    def once() -> None:
        together.wait(10)
        work()

    for done in [pool.submit(once) for _ in range(size)]:
        done.result(10)


def say(principal: Principal, gate: Gate, decision: Decision, **more: Any) -> Gate:
    """Return the gate after the principal said the word, as a surface would bring it."""
    return decide(principal=principal, gate_id=gate.pk, word=Word(decision, **more))


def claimed(row: Run, owner: str = "w") -> Claimed:
    taken = take_run(run_id=row.pk, owner=owner, lease_seconds=60)
    assert taken is not None
    return taken


def drive(
    row: Run,
    script: Script,
    *,
    before: dict[str, Hook] | None = None,
    after: dict[str, Hook] | None = None,
    adjust: Callable[[Driver], None] = lambda _: None,
    on_threads: Hook | None = None,
) -> Run:
    """Return the run after a worker claimed it and drove it until it was parked or over."""
    taken = claimed(row)
    with workbench() as bench:
        if on_threads is not None:
            on_each_thread(bench.bridge._pool, bench.bridge._pool._max_workers, on_threads)
        asyncio.run(_drive(taken, bench, script, (before or {}, after or {}), adjust))
    row.refresh_from_db()
    return row


async def _drive(
    taken: Claimed,
    bench: Workbench,
    script: Script,
    hooks: tuple[dict[str, Hook], dict[str, Hook]],
    adjust: Callable[[Driver], None],
) -> None:
    driver = await driver_for(taken, bench)
    driver.model = replace(driver.model, provider=script)
    driver.ports = replace(driver.ports, store=Hooked(driver.ports.store, *hooks))
    adjust(driver)
    await driver.drive()
