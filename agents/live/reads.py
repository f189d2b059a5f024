"""What streams read: whole pages in one reading transaction each, turned into items beside the
loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from agents.live.arrange import Found, arranged
from agents.live.items import Item, Marks, RunRow, event_item, gate_item, gate_place
from approvals.core.gate import GateKind, GateStatus
from approvals.models import Gate
from approvals.selectors import HEAVY, gate_json, heavy_parts, status_at
from felix_web.common.errors import NotFound
from felix_web.tenancy.auth import present_authority
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_snapshot
from sessions.core.events import EventKind
from sessions.core.frames import (
    BranchState,
    Frame,
    FrameType,
    RunState,
    ThreadState,
    UsageTotals,
    snapshot_frame,
    sse_field,
)
from sessions.core.reducer import SNAPSHOT_EVENTS
from sessions.core.states import RunStatus
from sessions.models import Branch, Event, Run, Thread, ThreadKind
from sessions.selectors import branch_of, core_event, newest_events

PAGE_EVENTS = 500
APPROVALS_READ = "approvals:read"


@dataclass(frozen=True, slots=True)
class Page:
    """What one read found, in the order in which it goes out.

    `newest` is the newest run that was looked at, or None. `head_seq` is the head of the log,
    `next_seq` the first place behind the page. `committed` are those of the asked messages that are
    in the log.
    """

    thread_id: int
    items: tuple[Item, ...]
    newest: RunRow | None
    has_more: bool
    next_seq: int
    head_seq: int
    committed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class GateRead:
    """A gate as it was read: where it stands, and how far that is. What can be large of it was
    left in the database.
    """

    row: Gate
    status: GateStatus
    place: tuple[int, ...]


def read_run(
    *, tenant_id: int, run_id: str, marks: Marks | None, open_messages: Collection[str] = ()
) -> Page:
    """Return what is new of one run, and of nothing else.

    Args:
        marks: How far the reader is; None is the run's beginning.
        open_messages: Messages whose text the reader could be given, to be told which are in
            the log.

    Raises:
        NotFound: the tenant has no such run.
    """
    with tenant_snapshot(tenant_id):
        run = Run.objects.for_tenant(tenant_id).select_related("thread").filter(pk=run_id).first()
        if run is None:
            raise NotFound("There is no such run.")
        marks = marks or Marks(next_seq=run.first_seq)
        events = Event.objects.filter(thread_id=run.thread_id, run_id=run_id)
        return _page(run.thread, [run], events, marks, open_messages)


def read_thread(
    *, tenant_id: int, thread_id: int, marks: Marks, open_messages: Collection[str] = ()
) -> Page:
    """Return what is new on a thread: its events from `marks.next_seq` on, its newest runs and
    their gates.

    Raises:
        NotFound: the tenant has no such thread any more.
    """
    with tenant_snapshot(tenant_id):
        thread = Thread.objects.for_tenant(tenant_id).filter(pk=thread_id, deleted_at=None).first()
        if thread is None:
            raise NotFound("There is no such thread.")
        runs = _newest_runs(thread_id, marks.run_from)
        events = Event.objects.filter(thread_id=thread_id)
        return _page(thread, runs, events, marks, open_messages)


def _newest_runs(thread_id: int, known_from: int | None) -> list[Run]:
    """Return the newest run, and those since the one that began at this seq, oldest first."""
    runs = Run.objects.filter(thread_id=thread_id, parent_run=None)
    newest = list(runs.order_by("-created_at", "-first_seq")[:1])
    if known_from is None or not newest or newest[0].first_seq == known_from:
        return newest
    return list(runs.filter(first_seq__gte=known_from).order_by("first_seq"))


def _page(
    thread: Thread,
    runs: list[Run],
    events: QuerySet[Event],
    marks: Marks,
    open_messages: Collection[str],
) -> Page:
    ahead = list(events.filter(seq__gte=marks.next_seq).order_by("seq")[: PAGE_EVENTS + 1])
    rows, has_more = ahead[:PAGE_EVENTS], len(ahead) > PAGE_EVENTS
    now = database_now()
    gates = _gates(runs, now, settled=marks.settled_gates())
    found = Found(
        runs=tuple(_run_row(run, gates) for run in runs),
        events=tuple(event_item(core_event(row)) for row in rows),
        gates=_gate_items(
            [gate for gate in gates if gate.place > marks.gates.get(gate.row.pk, ())], now
        ),
        has_more=has_more,
    )
    return Page(
        thread_id=thread.pk,
        items=tuple(arranged(found)),
        newest=found.runs[-1] if found.runs else None,
        has_more=has_more,
        next_seq=rows[-1].seq + 1 if has_more else max(thread.head_seq, marks.next_seq),
        head_seq=thread.head_seq,
        committed=_committed(runs, open_messages),
    )


def _committed(runs: Iterable[Run], messages: Collection[str]) -> frozenset[str]:
    if not messages:
        return frozenset()
    rows = Event.objects.none()
    for run in runs:
        rows = rows | Event.objects.filter(
            thread_id=run.thread_id, seq__gte=run.first_seq, message_id__in=messages
        )
    return frozenset(rows.values_list("message_id", flat=True))


def _gates(runs: Collection[Run], now: datetime, *, settled: Collection[str]) -> list[GateRead]:
    """Return the runs' gates that may have changed since those were settled, oldest first."""
    rows = (
        Gate.objects.filter(run_id__in=[run.pk for run in runs])
        .exclude(pk__in=settled)
        .select_related("thread")
        .prefetch_related("decisions")
        .defer(*HEAVY)
        .order_by("created_at", "pk")
    )
    return [_gate_read(row, now) for row in rows]


def _gate_items(gates: Collection[GateRead], now: datetime) -> tuple[Item, ...]:
    """Return the gates on their way to readers."""
    return tuple(
        gate_item(wire, gate.place) for gate, wire in zip(gates, _wires(gates, now), strict=True)
    )


def _wires(gates: Collection[GateRead], now: datetime) -> list[Frame]:
    """Return the gates whole; evidence is read here, of these alone."""
    heavy = heavy_parts(gate.row.pk for gate in gates)
    return [gate_json(gate.row, now=now) | heavy[gate.row.pk] for gate in gates]


def _gate_read(row: Gate, now: datetime) -> GateRead:
    shown = status_at(row, now)
    place = gate_place(
        revision=row.revision,
        stored=GateStatus(row.status),
        shown=shown,
        approvals=len(row.decisions.all()),
    )
    return GateRead(row, shown, place)


def _run_row(run: Run, gates: Iterable[GateRead]) -> RunRow:
    waiting = {
        gate.row.kind
        for gate in gates
        if gate.row.run_id == run.pk and gate.status is GateStatus.WAITING
    }
    is_waiting = run.status == RunStatus.WAITING
    return RunRow(
        state=run_state(run, waiting_on=tuple(sorted(waiting)) if is_waiting else ()),
        first_seq=run.first_seq,
        fence=run.fence,
        model_ms=run.model_ms,
    )


def begun_row(run: Run) -> RunRow:
    """Return a run that was just sent, as readers see it before anything of it is read."""
    return _run_row(run, ())


def run_state(run: Run, *, waiting_on: tuple[str, ...] = ()) -> RunState:
    """Return a run's row as readers see it."""
    return RunState(
        run_id=run.pk,
        resume_token=run.resume_token,
        status=RunStatus(run.status),
        reason=run.reason,
        waiting_on=waiting_on,
        usage=UsageTotals(
            input=run.input_tokens,
            output=run.output_tokens,
            cache_read=run.cache_read_tokens,
            cache_write=run.cache_write_tokens,
            cost_usd_micros=run.cost_usd_micros,
            certain=run.is_usage_certain,
        ),
        stop_reason=run.stop_reason,
        final=run.final,
        error=run.error,
    )


@dataclass(frozen=True, slots=True)
class SnapshotRead:
    """A thread at one moment: the frame for one reader, and how far a reader is who has it."""

    frame: Frame
    newest: RunRow | None
    marks: Marks
    committed: frozenset[str] = frozenset()

    def item(self) -> Item:
        """Return the snapshot on its way to its reader."""
        data = sse_field(self.frame, next_seq=self.marks.next_seq)
        return Item(FrameType.SNAPSHOT, self.frame, data, None, (self.marks.next_seq,))


def read_snapshot(
    *, tenant_id: int, thread_id: int, principal: Principal, open_messages: Collection[str] = ()
) -> SnapshotRead:
    """Return a thread as it is, with what the principal may see of its gates.

    Raises:
        NotFound: the tenant has no such thread.
    """
    with tenant_snapshot(tenant_id):
        thread = Thread.objects.for_tenant(tenant_id).filter(pk=thread_id, deleted_at=None).first()
        if thread is None:
            raise NotFound("There is no such thread.")
        runs = _newest_runs(thread_id, None)
        now = database_now()
        gates = _gates(runs, now, settled=())
        newest = _run_row(runs[-1], gates) if runs else None
        shown = [gate for gate in gates if may_see(principal, gate.row.kind)]
        return SnapshotRead(
            frame=_snapshot(thread, newest, shown, now),
            newest=newest,
            marks=_marks(thread, newest, gates),
            committed=_committed(runs, open_messages),
        )


def may_see(principal: Principal, kind: str) -> bool:
    """Return whether the principal is shown gates of this kind: approvals need approvals:read."""
    return kind != GateKind.APPROVAL or principal.has(APPROVALS_READ)


def _marks(thread: Thread, newest: RunRow | None, gates: Iterable[GateRead]) -> Marks:
    marks = Marks(next_seq=thread.head_seq, gates={gate.row.pk: gate.place for gate in gates})
    if newest is not None:
        marks.run, marks.usage = newest.place, newest.usage_place
    return marks


def _snapshot(
    thread: Thread, newest: RunRow | None, gates: Collection[GateRead], now: datetime
) -> Frame:
    branch = branch_of(thread_id=thread.pk, number=thread.active_branch)
    events, has_more = newest_events(branch, limit=SNAPSHOT_EVENTS)
    branches = Branch.objects.filter(thread_id=thread.pk).order_by("number")
    return snapshot_frame(
        thread=ThreadState(
            thread_id=None if thread.kind == ThreadKind.EPHEMERAL else thread.suffix,
            leaf_seq=thread.leaf_seq,
            leaf_epoch=thread.leaf_epoch,
            active_branch=thread.active_branch,
            name=thread.title,
        ),
        run=None if newest is None else newest.state,
        events=events,
        has_more=has_more,
        gates=_wires(gates, now),
        branches=[BranchState(row.number, row.parent_number, row.from_seq) for row in branches],
    )


@dataclass(frozen=True, slots=True)
class Credential:
    """What a reader came with: enough to look it up again."""

    member_id: int | None
    key_id: int | None
    scopes: frozenset[str]


def read_authority(
    *, tenant_id: int, credentials: Iterable[Credential]
) -> dict[Credential, Principal | None]:
    """Return each credential as it stands now; None where it was revoked, has lapsed, or its member
    has left.
    """
    with tenant_snapshot(tenant_id):
        return {
            credential: present_authority(
                member_id=credential.member_id,
                key_id=credential.key_id,
                scopes=credential.scopes,
            )
            for credential in credentials
        }


ANSWER = EventKind.ASSISTANT_MESSAGE
