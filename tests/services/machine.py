"""The state machine over the real services: what may happen to a thread, in any order, and what stays true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from agents.services.claiming import take_run
from agents.services.sending import Message, send
from agents.services.stopping import abort_run, rewind
from agents.services.sweeping import expire_due_gates, expire_due_runs
from approvals.core.gate import Decision, GateStatus
from approvals.deciding import Edited, Said, decide_gate
from approvals.errors import AlreadyDecided, GateExpired, GateWithdrawn, InvalidEdit, StaleGate
from approvals.models import Gate, Grant
from approvals.selectors import contract_of
from felix_web.audit.models import AuditEvent
from felix_web.common.digests import digest
from felix_web.common.ids import new_id
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_scope
from sessions.core.events import Event, EventKind, NewEvent
from sessions.core.states import CallStatus, RunStatus
from sessions.errors import RunInProgress, UnknownEvent
from sessions.models import Branch, Run, Thread
from sessions.selectors import active_run, branch_events, events_since
from sessions.services.runs import free_lease
from tests import make, people
from tests.services.machine_worker import Worker, World, is_final, new_prompt, refusals

LEASE_SECONDS = 3600
HOUR = timedelta(hours=1)
TOOLS = ("look", "again", "act", "gated", "gated", "granted", "two")
CALLS = st.lists(st.tuples(st.sampled_from(TOOLS), st.sampled_from("ab")), max_size=3)
PICK = st.integers(0, 9)
TOO_LATE = (AlreadyDecided, GateExpired, GateWithdrawn, StaleGate, InvalidEdit)


class Tree:
    """The naive log: every event knows its parent, every branch its newest event."""

    def __init__(self) -> None:
        self.parents: list[int] = []
        self.tips = [-1]

    def add(self, event: Event) -> None:
        if event.kind is EventKind.REWOUND:
            assert event.payload["branch_id"] == len(self.tips)
            self.tips.append(event.payload["from_seq"])
        assert event.seq == len(self.parents)
        self.parents.append(self.tips[event.branch])
        self.tips[event.branch] = event.seq

    def walk(self, branch: int) -> list[int]:
        found, seq = [], self.tips[branch]
        while seq >= 0:
            found.append(seq)
            seq = self.parents[seq]
        return found[::-1]


class Team:
    """Those who act on the thread, looked up once."""

    def __init__(self) -> None:
        make.manifest()
        self.alice, self.bob, self.dora = people.alice(), people.bob(), people.dora()

    @property
    def reviewers(self) -> Sequence[Principal]:
        return self.alice, self.bob, self.dora


class Machine(RuleBasedStateMachine):
    """One thread, its runs, and any number of workers, of which at most one may write."""

    team: Team

    def __init__(self) -> None:
        super().__init__()
        self.suffix = new_id("t").replace("_", "-")
        self.world = World()
        self.workers: list[Worker] = []
        self.tree = Tree()
        self.branch_of_run: dict[str, int] = {}
        self.fences: Counter[str] = Counter()
        self.ended: dict[str, str] = {}
        self.settled: dict[str, str] = {}
        self.rewinds = 0
        self.send()

    # What may happen. Each act is one function that could run on a connection of its own.

    def act(self, work: Callable[[], Any], worker: Worker | None = None) -> None:
        """The work is done, and everything that must stay true is."""
        work()
        self.check()

    @property
    def thread(self) -> Thread:
        return Thread.objects.get(suffix=self.suffix)

    @rule()
    def send(self) -> None:
        self.act(self._send)

    def _send(self) -> None:
        message = Message(manifest="writer", texts=("go",), thread=self.suffix)
        try:
            send(principal=self.team.alice, message=message)
        except RunInProgress:
            pass

    @rule(parallel=st.booleans())
    def claim(self, parallel: bool) -> None:
        self.act(lambda: self._claim(parallel=parallel))

    def _claim(self, *, parallel: bool) -> None:
        run = active_run(thread_id=self.thread.pk)
        claimed = run and take_run(run_id=run.pk, owner=new_id("w"), lease_seconds=LEASE_SECONDS)
        if claimed:
            self.workers.append(Worker(claimed, self.world, parallel=parallel))

    @precondition(lambda self: self.workers)
    @rule(pick=PICK, answer=CALLS)
    def step(self, pick: int, answer: list[tuple[str, str]]) -> None:
        self._step(self.workers[-1 - pick % len(self.workers)], answer)

    @precondition(lambda self: self.workers)
    @rule(answer=CALLS)
    def step_of_the_newest(self, answer: list[tuple[str, str]]) -> None:
        self._step(self.workers[-1], answer)

    @precondition(lambda self: self.workers)
    @rule(answers=st.lists(CALLS, min_size=3, max_size=3))
    def steps_of_the_newest(self, answers: list[list[tuple[str, str]]]) -> None:
        for answer in answers:
            if self.workers:
                self._step(self.workers[-1], answer)

    def _step(self, worker: Worker, answer: list[tuple[str, str]]) -> None:
        self.act(lambda: worker.step(answer), worker)
        self.workers = [one for one in self.workers if not one.is_over]

    @precondition(lambda self: self.workers)
    @rule(pick=PICK)
    def crash(self, pick: int) -> None:
        self.workers.pop(pick % len(self.workers))

    @rule()
    def lease_lapses(self) -> None:
        self.act(self._lapse)

    def _lapse(self) -> None:
        Run.objects.filter(thread__suffix=self.suffix, status=RunStatus.RUNNING).update(
            lease_until=database_now() - HOUR
        )

    @precondition(lambda self: self.workers)
    @rule(pick=PICK)
    def give_back(self, pick: int) -> None:
        claim = self.workers[pick % len(self.workers)].claim
        self.act(lambda: self._free(claim.run_id, claim.fence))

    def _free(self, run_id: str, fence: int) -> None:
        with tenant_scope(self.team.alice.tenant_id):
            free_lease(run_id=run_id, fence=fence)

    @rule(pick=PICK, who=PICK, approves=st.sampled_from([True, True, False]), edits=st.booleans())
    def decide(self, pick: int, who: int, approves: bool, edits: bool) -> None:
        principal = self.team.reviewers[who % 3]
        self.act(lambda: self._decide(pick, principal, approves=approves, edits=edits))

    def _decide(self, pick: int, principal: Principal, *, approves: bool, edits: bool) -> None:
        gates = list(Gate.objects.filter(thread__suffix=self.suffix).order_by("-created_at")[:4])
        if not gates:
            return
        gate = gates[pick % len(gates)]
        said = Said(Decision.APPROVE if approves else Decision.DENY, "a note")
        if edits and approves:
            said = replace(said, edited=self._edit(gate))
        try:
            decide_gate(principal=principal, gate_id=gate.pk, said=said)
        except TOO_LATE:
            pass

    def _edit(self, gate: Gate) -> Edited:
        args = {**gate.args, "text": "y"}
        before = f"now:{self.world.values.get(args['path'], '')}"
        contract = replace(contract_of(gate), args_digest=digest(args), preimage=before)
        return Edited(args, contract, {"title": "edited"})

    @rule()
    def deadline_passes(self) -> None:
        self.act(self._pass_deadline)

    def _pass_deadline(self) -> None:
        Gate.objects.filter(thread__suffix=self.suffix, status=GateStatus.WAITING).update(
            expires_at=database_now() - HOUR
        )

    @rule()
    def sweep(self) -> None:
        self.act(self._sweep)

    def _sweep(self) -> None:
        expire_due_gates()
        expire_due_runs()

    @rule(path=st.sampled_from("ab"))
    def the_world_changes(self, path: str) -> None:
        self.world.values[path] = self.world.values.get(path, "") + "!"

    @rule()
    def revoke_grants(self) -> None:
        Grant.objects.filter(gate__thread__suffix=self.suffix).update(revoked_at=database_now())

    @rule(really=PICK)
    def run_expires(self, really: int) -> None:
        if really == 0:
            Run.objects.filter(thread__suffix=self.suffix).update(expires_at=database_now() - HOUR)

    @rule(really=PICK)
    def abort(self, really: int) -> None:
        if really < 3:
            self.act(lambda: abort_run(principal=self.team.alice, thread=self.thread))

    @rule(back=st.integers(-1, 12))
    def rewind(self, back: int) -> None:
        if back < 6:
            self.act(lambda: self._rewind(back))

    def _rewind(self, back: int) -> None:
        thread = self.thread
        after = -1 if back < 0 else max(thread.leaf_seq - back, -1)
        try:
            rewind(principal=self.team.alice, thread=thread, after_seq=after)
        except UnknownEvent:
            return
        self.rewinds += 1

    # What stays true.

    def check(self) -> None:
        thread = self.thread
        for event in events_since(thread_id=thread.pk, seq=len(self.tree.parents)):
            self.tree.add(event)
            if event.run_id:
                assert self.branch_of_run.setdefault(event.run_id, event.branch) == event.branch
        assert thread.head_seq == len(self.tree.parents)
        assert thread.leaf_seq == self.tree.tips[thread.active_branch]
        assert thread.leaf_epoch == self.rewinds == thread.active_branch
        self._check_runs(thread)
        self._check_gates(thread)
        self._check_effects()

    def _check_runs(self, thread: Thread) -> None:
        runs = list(Run.objects.filter(thread=thread).values_list("pk", "status", "fence"))
        assert sum(not is_final(status) for _, status, _ in runs) <= 1
        for run_id, status, fence in runs:
            assert fence >= self.fences[run_id]
            self.fences[run_id] = fence
            if is_final(status):
                assert self.ended.setdefault(run_id, status) == status
        waiting = Gate.objects.filter(run=OuterRef("pk"), status=GateStatus.WAITING)
        asleep = Run.objects.filter(thread=thread, status=RunStatus.WAITING)
        assert not asleep.exclude(Exists(waiting)).exists(), "a wake was lost"

    def _check_gates(self, thread: Thread) -> None:
        for gate_id, status in Gate.objects.filter(thread=thread).values_list("pk", "status"):
            if status != GateStatus.WAITING:
                assert self.settled.setdefault(gate_id, status) == status

    def _check_effects(self) -> None:
        unsafe = {call: n for call, n in self.world.effects.items() if call not in self.world.safe}
        assert all(count == 1 for count in unsafe.values()), "an effect happened twice"
        assert all(n == 1 for gate, n in self.world.spent.items() if gate), "spent twice"

    # The end: whatever happened, the thread gets to a rest, and all that it holds is sound.

    def teardown(self) -> None:
        self._come_to_rest()
        thread = self.thread
        gates = Gate.objects.filter(thread=thread)
        assert not gates.filter(status=GateStatus.WAITING).exists()
        acts = [f"gate_{status.value}" for status in GateStatus if status != GateStatus.WAITING]
        told = AuditEvent.objects.filter(act__in=acts, subject__in=gates.values("pk"))
        assert Counter(told.values_list("subject", flat=True)) == Counter(
            gates.values_list("pk", flat=True)
        )
        for branch in Branch.objects.filter(thread=thread):
            self._check_branch(branch)

    def _come_to_rest(self) -> None:
        Run.objects.filter(thread__suffix=self.suffix).update(expires_at=database_now() + HOUR)
        for _ in range(60):
            self._lapse()
            self._pass_deadline()
            expire_due_gates()
            run = active_run(thread_id=self.thread.pk)
            if run is None:
                return
            self._claim(parallel=False)
            worker = self.workers[-1] if self.workers else None
            while worker is not None and not worker.is_over:
                worker.step([])
            self.check()
        raise AssertionError("the run does not come to an end")

    def _check_branch(self, branch: Branch) -> None:
        events = branch_events(branch)
        assert [event.seq for event in events] == self.tree.walk(branch.number)
        answered = Counter(e.call_id for e in events if e.kind is EventKind.TOOL_RESULT)
        begun = Counter((e.run_id, e.call_id) for e in events if e.kind is EventKind.CALL_STARTED)
        proposed = {
            call["id"]
            for event in events
            if event.kind is EventKind.ASSISTANT_MESSAGE
            for call in event.payload["tool_calls"]
        }
        assert all(count == 1 for count in answered.values()), "a second result"
        assert all(count == 1 for count in begun.values()), "started twice"
        assert set(answered) <= proposed
        assert refusals(_prompt_of(events)) == []


def _prompt_of(events: Sequence[Event]) -> Any:
    """The prompt that would follow the branch if somebody said one thing more."""
    prompt = new_prompt()
    said = NewEvent(EventKind.USER_MESSAGE, {"content": "and now?"})
    for event in events:
        prompt.add(event)
    prompt.add(Event(len(events), 0, said.kind, None, 0, said.payload))
    return prompt


INTERRUPTED = CallStatus.INTERRUPTED
FENCE = F("fence")
