"""The state machine over the real services: whatever happens to a thread, what stays true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import connection
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from agents.core.store import LeaseLost
from agents.services.claiming import take_run
from agents.services.sending import Message, send
from agents.services.stopping import abort_run, rewind
from agents.services.sweeping import sweep
from approvals.core.gate import Decision, GateStatus
from approvals.deciding import Edited, Said, decide_gate
from approvals.errors import AlreadyDecided, GateExpired, GateWithdrawn, InvalidEdit
from approvals.models import Gate, Grant
from approvals.selectors import contract_of
from felix_web.audit.models import AuditEvent
from felix_web.common.digests import digest
from felix_web.common.ids import new_id
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_scope
from sessions.core.events import Event, EventKind
from sessions.core.states import RunStatus
from sessions.errors import RunInProgress, UnknownEvent
from sessions.models import Branch, Run, Thread
from sessions.selectors import branch_events, events_since
from sessions.services.runs import free_lease
from tests import make, people
from tests.services.machine_worker import Calls, Worker, World, new_prompt, refusals

HOUR = timedelta(hours=1)
FINAL = {"done", "failed", "stopped", "expired"}
SETTLED = ("gate_answered", "gate_denied", "gate_expired", "gate_withdrawn")
REFUSED = (AlreadyDecided, GateExpired, GateWithdrawn, InvalidEdit)

# Hypothesis would turn most of many rules off in most examples; with one rule the mix is ours.
MIX = (
    {"work": 9, "step": 3, "claim": 2, "send": 1, "decide": 7, "the_world_changes": 1}
    | {"crash": 2, "lapse": 3, "give_back": 1, "deadline": 1, "sweep": 1, "revoke": 1}
    | {"abort": 1, "rewind": 2, "run_expires": 1}
)  # fmt: skip
ACTS = st.sampled_from([act for act, weight in MIX.items() for _ in range(weight)])
TOOLS = ("look", "again", "act", "gated", "gated", "granted", "two")
CALLS = st.lists(st.tuples(st.sampled_from(TOOLS), st.sampled_from("ab")), max_size=3)

RUNS = """
SELECT id, status, fence, EXISTS (
       SELECT 1 FROM approvals_gate WHERE run_id = agent_sessions_run.id AND status = 'waiting')
  FROM agent_sessions_run WHERE thread_id = %s
"""
NEWEST_GATES = """
SELECT id, status FROM approvals_gate WHERE thread_id = %s ORDER BY created_at DESC LIMIT 4
"""
ACTIVE = """
SELECT id FROM agent_sessions_run
 WHERE thread_id = %s AND status IN ('queued', 'running', 'waiting')
"""


def rows(query: str, *values: object) -> list[tuple[Any, ...]]:
    """Return what the query finds; plain SQL, since it is asked after every act."""
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchall()


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

    def reviewer(self, pick: int) -> Principal:
        return (self.bob, self.dora, self.alice)[pick % 3]


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
        self.final: dict[str, str] = {}
        self.rewinds: list[int] = []
        self.send()
        self.thread_pk = self.thread.pk
        self.check()

    @property
    def thread(self) -> Thread:
        return Thread.objects.get(suffix=self.suffix)

    @rule(act=ACTS, pick=st.integers(0, 11), answer=CALLS, flag=st.booleans())
    def happens(self, act: str, pick: int, answer: Calls, flag: bool) -> None:
        self.do(self.prepared(act, pick, answer, flag=flag))

    def do(self, work: Callable[[], None]) -> None:
        """The work is done, and everything that must stay true is."""
        work()
        self.check()

    def prepared(self, act: str, pick: int, answer: Calls, *, flag: bool) -> Callable[[], None]:
        """Return the act, ready to be done: on any connection, and beside another."""
        worker = self.workers[pick % len(self.workers)] if self.workers else None
        match act:
            case "step" | "crash" | "give_back" if worker is None:
                return lambda: self.work(answer, pick, flag=flag)
            case "work" if worker is None and self.waits():
                return lambda: self.decide(pick, approves=True, edits=False)
            case "work":
                return lambda: self.work(answer, pick, flag=flag)
            case "step":
                return lambda: self.step(worker, answer)
            case "crash":
                return lambda: self.workers.remove(worker)
            case "give_back":
                return lambda: self.give_back(worker)
            case "claim":
                return lambda: self.claim(parallel=flag)
            case "decide":
                return lambda: self.decide(pick, approves=pick < 9, edits=flag and pick < 3)
            case "rewind":
                return lambda: self.rewind(pick - 2)
            case "the_world_changes":
                return lambda: self.world.change("ab"[pick % 2])
            case "run_expires":
                return lambda: self.run_expires(really=pick < 2)
            case _:
                plain: Callable[[], None] = getattr(self, act)
                return plain

    # What may happen.

    def work(self, answer: Calls, pick: int, *, flag: bool) -> None:
        """What a worker does by itself: the newest goes on a bit, else the run is claimed."""
        if self.workers:
            for calls in (answer, [], [])[: 1 + pick % 3]:
                self.step(self.workers[-1], calls)
                if not self.workers:
                    return
        elif self.active() is None:
            self.send()
        else:
            self.claim(parallel=flag)

    def active(self) -> str | None:
        found = rows(ACTIVE, self.thread_pk)
        return found[0][0] if found else None

    def waits(self) -> bool:
        return bool(rows(ACTIVE + " AND status = 'waiting'", self.thread_pk))

    def send(self) -> None:
        message = Message(manifest="writer", texts=("go",), thread=self.suffix)
        with suppress(RunInProgress):
            send(principal=self.team.alice, message=message)

    def claim(self, *, parallel: bool) -> None:
        run_id = self.active()
        claimed = run_id and take_run(run_id=run_id, owner=new_id("w"), lease_seconds=3600)
        if claimed:
            with suppress(LeaseLost):  # stopped before it was read
                self.workers.append(Worker(claimed, self.world, parallel=parallel))

    def step(self, worker: Worker, answer: Calls) -> None:
        worker.step(answer)
        if worker.is_over:
            self.workers.remove(worker)

    def give_back(self, worker: Worker) -> None:
        with tenant_scope(worker.claim.tenant_id):
            free_lease(run_id=worker.claim.run_id, fence=worker.claim.fence)

    def lapse(self) -> None:
        going = Run.objects.filter(thread_id=self.thread_pk, status=RunStatus.RUNNING)
        going.update(lease_until=database_now() - HOUR)

    def decide(self, pick: int, *, approves: bool, edits: bool) -> None:
        gates = rows(NEWEST_GATES, self.thread_pk)
        gates = [gate for gate in gates if gate[1] == GateStatus.WAITING] or gates
        if not gates:
            return
        gate_id = gates[pick % len(gates)][0]
        said = Said(Decision.APPROVE if approves else Decision.DENY, "a note")
        if edits and approves:
            said = replace(said, edited=self._edit(Gate.objects.get(pk=gate_id)))
        with suppress(*REFUSED):
            decide_gate(principal=self.team.reviewer(pick), gate_id=gate_id, said=said)

    def _edit(self, gate: Gate) -> Edited:
        args = {**gate.args, "text": "y"}
        before = self.world.now(args["path"])
        contract = replace(contract_of(gate), args_digest=digest(args), preimage=before)
        return Edited(args, contract, {"title": "edited"})

    def deadline(self) -> None:
        waiting = Gate.objects.filter(thread_id=self.thread_pk, status=GateStatus.WAITING)
        waiting.update(expires_at=database_now() - HOUR)

    def sweep(self) -> None:
        sweep()

    def revoke(self) -> None:
        Grant.objects.filter(gate__thread_id=self.thread_pk).update(revoked_at=database_now())

    def run_expires(self, *, really: bool) -> None:
        if really:
            Run.objects.filter(thread_id=self.thread_pk).update(expires_at=database_now() - HOUR)

    def abort(self) -> None:
        abort_run(principal=self.team.alice, thread=self.thread)

    def rewind(self, back: int) -> None:
        thread = self.thread
        after = -1 if back < 0 else max(thread.leaf_seq - back, -1)
        with suppress(UnknownEvent):
            rewind(principal=self.team.alice, thread=thread, after_seq=after)
            self.rewinds.append(after)

    # What stays true.

    def check(self) -> None:
        head, leaf, epoch, active = rows(
            "SELECT head_seq, leaf_seq, leaf_epoch, active_branch"
            " FROM agent_sessions_thread WHERE id = %s",
            self.thread_pk,
        )[0]
        if head > len(self.tree.parents):
            self._read_on()
        assert head == len(self.tree.parents)
        assert leaf == self.tree.tips[active]
        assert epoch == active == len(self.rewinds)
        self._check_runs()
        gates = rows("SELECT id, status FROM approvals_gate WHERE thread_id = %s", self.thread_pk)
        self._stays_final([gate for gate in gates if gate[1] != "waiting"])
        self._check_effects()

    def _read_on(self) -> None:
        for event in events_since(thread_id=self.thread_pk, seq=len(self.tree.parents)):
            self.tree.add(event)
            if event.run_id:
                assert self.branch_of_run.setdefault(event.run_id, event.branch) == event.branch

    def _check_runs(self) -> None:
        found = rows(RUNS, self.thread_pk)
        assert sum(status not in FINAL for _, status, _, _ in found) <= 1
        for run_id, status, fence, has_waiting_gate in found:
            assert fence >= self.fences[run_id]
            self.fences[run_id] = fence
            assert status != "waiting" or has_waiting_gate, "a wake was lost"
            assert status not in FINAL or not has_waiting_gate, "a gate outlived its run"
        self._stays_final([(one[0], one[1]) for one in found if one[1] in FINAL])

    def _stays_final(self, ended: Sequence[tuple[Any, ...]]) -> None:
        for key, status in ended:
            assert self.final.setdefault(key, status) == status

    def _check_effects(self) -> None:
        assert all(count == 1 for count in self.world.effects.values()), "done twice"
        assert all(count == 1 for count in self.world.spent.values()), "spent twice"

    # Whatever happened, the thread comes to a rest, and all that it holds is sound.

    def teardown(self) -> None:
        self._come_to_rest()
        gates = Gate.objects.filter(thread_id=self.thread_pk)
        assert not gates.filter(status=GateStatus.WAITING).exists()
        told = AuditEvent.objects.filter(subject__in=gates.values("pk"), act__in=SETTLED)
        assert Counter(told.values_list("subject", flat=True)) == Counter(
            gates.values_list("pk", flat=True)
        )
        for branch in Branch.objects.filter(thread_id=self.thread_pk):
            self._check_branch(branch)

    def _come_to_rest(self) -> None:
        runs = Run.objects.filter(thread_id=self.thread_pk)
        runs.update(expires_at=database_now() + HOUR)
        for _ in range(40):
            self.lapse()
            self.deadline()
            self.sweep()
            if self.active() is None:
                return self.check()
            self.workers.clear()
            self.claim(parallel=False)
            while self.workers:
                self.step(self.workers[-1], [])
        raise AssertionError("the run does not come to an end")

    def _check_branch(self, branch: Branch) -> None:
        events = branch_events(branch)
        assert [event.seq for event in events] == self.tree.walk(branch.number)
        results = [e.call_id for e in events if e.kind is EventKind.TOOL_RESULT]
        begun = [(e.run_id, e.call_id) for e in events if e.kind is EventKind.CALL_STARTED]
        answers = [e for e in events if e.kind is EventKind.ASSISTANT_MESSAGE]
        asked = [call["id"] for answer in answers for call in answer.payload["tool_calls"]]
        assert len(set(results)) == len(results), "a second result"
        assert len(set(begun)) == len(begun), "started twice"
        assert len(set(asked)) == len(asked), "an id is used twice"
        assert set(results) <= set(asked)
        assert refusals(_prompt_after(events)) == []


def _prompt_after(events: Sequence[Event]) -> Any:
    """Return the prompt that would follow the branch if somebody said one thing more."""
    prompt = new_prompt()
    for event in events:
        prompt.add(event)
    prompt.add(Event(len(events), 0, EventKind.USER_MESSAGE, None, 0, {"content": "and now?"}))
    return prompt
