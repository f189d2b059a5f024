"""The thread page: everything about one thread, as of one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agents.core.limits import Limits
from agents.core.manifest.bundled import UnknownManifest
from agents.core.manifest.problems import ManifestInvalid
from agents.core.providers.profiles import ModelProfile, UnknownModel
from agents.profiles import deployment_models
from agents.services.manifests import compiled_version, version_of
from agents.views.gate_rows import page_gates
from agents.views.page import act_key
from agents.views.present.activity import present_activity
from agents.views.present.composer import present_composer
from agents.views.present.gate import GateCard, present_gate
from agents.views.present.meters import present_meters
from agents.views.present.state_block import present_state
from agents.views.present.transcript import Transcript, present_transcript
from agents.views.rail import rail_of
from agents.views.wire import event_wire, run_wire
from approvals.selectors import frame_gates
from felix_web.common.clock import epoch_ms, from_ms
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_snapshot
from sessions.core.states import RunStatus
from sessions.models import Run, Thread
from sessions.models.run import ACTIVE
from sessions.selectors import branch_of, newest_events, newest_run, thread_for

Wire = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ThreadView:
    """One read of a thread: all of it is of the same moment."""

    thread: Thread
    run: Run | None
    events: list[Wire]
    has_older: bool
    gates: list[Wire]
    read_ms: int

    @property
    def active_run(self) -> str:
        """The run that is going, or ""."""
        return self.run.pk if self.run is not None and self.run.status in ACTIVE else ""


def read_thread(*, principal: Principal, thread_id: str, before_seq: int | None) -> ThreadView:
    """Return the newest events of the thread's active branch, with its run and that run's gates.

    Raises:
        NotFound: the tenant has no such thread.
    """
    with tenant_snapshot(principal.tenant_id):
        thread = thread_for(tenant_id=principal.tenant_id, suffix=thread_id)
        branch = branch_of(thread_id=thread.pk, number=thread.active_branch)
        events, has_older = newest_events(branch, before_seq=before_seq)
        run = newest_run(thread_id=thread.pk)
        now = database_now()
        is_newest = before_seq is None
        gates = frame_gates(run_id=run.pk, with_evidence=False) if run and is_newest else []
        return ThreadView(
            thread=thread,
            run=run,
            events=[event_wire(event) for event in events],
            has_older=has_older,
            gates=page_gates(gates, now=now, principal=principal),
            read_ms=epoch_ms(now),
        )


def _run(view: ThreadView) -> Wire | None:
    """Return the thread's run with what it may use, as far as this build still knows that."""
    run = view.run
    if run is None:
        return None
    model, limits = _model(run), _limits(run)
    if limits is not None and model is not None:
        limits = limits.within(model.max_turns)
    window = None if model is None else model.context_window
    return run_wire(run, now=from_ms(view.read_ms), limits=limits, context_window=window)


def _limits(run: Run) -> Limits | None:
    """Return what the run's manifest allows; None where this build cannot read it any more."""
    try:
        version = version_of(
            tenant_id=run.tenant_id, name=run.manifest, number=run.manifest_version
        )
        with tenant_snapshot(run.tenant_id):
            return compiled_version(version).limits
    except (UnknownManifest, ManifestInvalid):
        return None


def _model(run: Run) -> ModelProfile | None:
    """Return the run's model; None where this deployment has it no more."""
    try:
        return deployment_models().model(run.model)
    except UnknownModel:
        return None


def _doing(view: ThreadView) -> str:
    """Return what a running run does now: the call that was started last, else the model."""
    if view.run is None or view.run.status != RunStatus.RUNNING:
        return ""
    ended = {event["call_id"] for event in view.events if event["kind"] == "tool_result"}
    for event in reversed(view.events):
        if event["kind"] == "call_started" and event["call_id"] not in ended:
            return str(event.get("tool") or "")
    return "the model is thinking"


def _ended_by(view: ThreadView) -> str:
    """Return who stopped the newest run; "" where nobody did or the log does not say."""
    ends = [event for event in view.events if event["kind"] == "run_finished"]
    mine = [event for event in ends if view.run is not None and event["run_id"] == view.run.pk]
    return str(mine[-1].get("by") or "") if mine else ""


def _names(events: list[Wire]) -> dict[str, str]:
    said = [event for event in events if event["kind"] == "user_message" and event["run_id"]]
    return {event["run_id"]: str(event.get("by") or "") for event in said}


def _cards(view: ThreadView, principal: Principal, agent: str) -> dict[str, GateCard]:
    """Return the newest gate of each call, by the call's id."""
    return {
        gate["call_id"]: present_gate(gate, viewer=principal.name, agent=agent, where="thread")
        for gate in view.gates
    }


def _transcript(
    view: ThreadView, cards: dict[str, GateCard], names: dict[str, str], *, is_newest: bool
) -> Transcript:
    return present_transcript(
        view.events,
        gates=cards,
        names=names,
        active_run=view.active_run,
        older_before=view.events[0]["seq"] if view.has_older and view.events else None,
        is_newest=is_newest,
    )


def thread_context(
    *,
    principal: Principal,
    view: ThreadView,
    before_seq: int | None = None,
    text: str = "",
    error: str = "",
) -> Wire:
    """Return the page's context.

    Args:
        before_seq: The page shows what stands before this place; None means the newest.
        text: What was typed and could not be sent.
        error: Why it could not.
    """
    run = _run(view)
    agent = f"{view.run.manifest}@{view.run.manifest_version}" if view.run else view.thread.manifest
    cards = _cards(view, principal, agent)
    state = present_state(run, list(cards.values()), doing=_doing(view), ended_by=_ended_by(view))
    names = _names(view.events)
    return {
        "now_ms": view.read_ms,
        "title": view.thread.title or "New thread",
        "agent": agent,
        "thread_id": view.thread.suffix,
        "run_state": state,
        "transcript": _transcript(view, cards, names, is_newest=before_seq is None),
        "first_gate": state.gate_id,
        "composer": present_composer(state, may_send=principal.may_send, text=text, error=error),
        "meters": present_meters(run, view.events, has_older=view.has_older),
        "activity": present_activity(view.events, view.gates, names),
        "rail": rail_of(principal=principal),
        "act_key": act_key(),
    }
