"""The driver.

Does what `next_step` says, one committed step after the other, until the run waits or ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from agents.core.asking import Model, ask
from agents.core.controls.base import Allow, Ask, Candidate, Deny, Policy, Verdict
from agents.core.controls.front import evaluate
from agents.core.executing import (
    batch_of,
    denial,
    heed_stop,
    needs_own_start,
    riding_starts,
    run_call,
    start_of,
)
from agents.core.loop import CallModel, Finish, RunCalls, Wait, next_step
from agents.core.ports import Ports
from agents.core.prompt import Prompt
from agents.core.providers.base import ProviderError
from agents.core.store import CallClosed, GateSpent, Start
from agents.core.view import RunView, calls_of
from felix_web.common.faults import reach
from sessions.core.calls import Call
from sessions.core.events import Event
from sessions.core.states import RunStatus, StopReason


class Driver:
    """Drives one claimed run.

    Every event it commits is applied to the view and the prompt, and nothing else is.
    """

    def __init__(
        self,
        *,
        view: RunView,
        prompt: Prompt,
        model: Model,
        policy: Policy,
        ports: Ports,
        parallel: bool = False,
    ) -> None:
        self.view = view
        self.prompt = prompt
        self.model = model
        self.policy = policy
        self.ports = ports
        self.parallel = parallel
        self.is_closing = False
        self.call_ids: set[str] = set()
        self._began = ports.clock.monotonic()

    def take(self, events: Sequence[Event]) -> None:
        """The view and the prompt include these events of the branch."""
        for event in events:
            self.view.apply(event)
            self.prompt.add(event)
            self.call_ids.update(call.call_id for call in calls_of(event))

    def active_ms(self) -> int:
        """Return how long the run has been driven, this claim and earlier ones, in ms."""
        now = self.ports.clock.monotonic()
        return self.view.facts.active_ms + int((now - self._began) * 1000)

    async def drive(self) -> None:
        """The run is parked or over.

        Or, once `is_closing` is set, left between two steps for another driver.

        Raises:
            LeaseLost: another driver has it, or it was stopped; nothing more may be written.
        """
        while not self.is_closing:
            match next_step(self.view, active_ms=self.active_ms()):
                case CallModel():
                    if not await self._call_model():
                        return
                case RunCalls(calls) if await self._run_calls(calls):
                    pass
                case RunCalls() | Wait():
                    if await self.ports.store.park():
                        return
                    self.view.take_gates(await self.ports.store.gates())
                case Finish() as end:
                    await self.ports.store.finish(end)
                    return

    async def _call_model(self) -> bool:
        """The model's answer is in the log. False: it could not be had, and the run has failed."""
        reach("before_model")
        left = self.view.facts.limits.max_wall_clock_seconds - self.active_ms() / 1000
        try:
            async with asyncio.timeout(left):
                answer = await ask(
                    self.model,
                    self.prompt,
                    self.view,
                    known_call_ids=self.call_ids,
                    deadline_seconds=left,
                    sink=self.ports.sink,
                    clock=self.ports.clock,
                )
        except TimeoutError:
            return True  # the working time is used up, which is the next thing `next_step` sees
        except ProviderError as error:
            end = Finish(RunStatus.FAILED, StopReason.ERROR, error.code, error.message)
            await self.ports.store.finish(end)
            return False
        verdicts = await self._evaluate(calls_of(answer.event))
        starts = riding_starts(verdicts, parallel=self.parallel)
        self.take(await self.ports.store.answer(answer.event, answer.metered, starts))
        reach("after_message")
        return True

    async def _run_calls(self, calls: Sequence[Call]) -> bool:
        """Put the calls through the controls; then close what is denied, or ask, or run.

        False: all of them must wait.
        """
        verdicts = await self._evaluate(calls)
        refused = [denial(verdict) for verdict in verdicts if isinstance(verdict, Deny)]
        drafts = [verdict.draft for verdict in verdicts if isinstance(verdict, Ask)]
        if refused:
            await self._close(refused)
        elif drafts:
            self.view.take_gates(await self.ports.store.ask(drafts))
        else:
            return await self._execute(verdicts)
        return True

    async def _evaluate(self, calls: Sequence[Call]) -> list[Verdict]:
        return await self.ports.threads.run(partial(evaluate, calls, self.view, self.policy))

    async def _execute(self, verdicts: Sequence[Verdict]) -> bool:
        allowed = [verdict for verdict in verdicts if isinstance(verdict, Allow)]
        batch = batch_of(allowed, parallel=self.parallel)
        if batch and needs_own_start(batch[0]) and not await self._start(batch[0]):
            return True
        reach("before_call")
        if len(batch) == 1:
            result = await run_call(batch[0], self.ports)
            await self._close([result], riding_starts(allowed[1:], parallel=self.parallel))
            return True
        running = [asyncio.ensure_future(run_call(candidate, self.ports)) for candidate in batch]
        try:
            for done in asyncio.as_completed(running):
                await self._close([await done])
        finally:
            for task in running:
                task.cancel()
        return bool(batch)

    async def _start(self, candidate: Candidate) -> bool:
        try:
            self.take(await self.ports.store.start(start_of(candidate)))
        except GateSpent:
            self.policy = self.policy.without(candidate.grant)
            self.view.take_gates(await self.ports.store.gates())
            return False
        return True

    async def _close(self, ends: Sequence[CallClosed], starts: Sequence[Start] = ()) -> None:
        self.take(await self.ports.store.result(ends, starts))
        reach("after_result")
        heed_stop()
