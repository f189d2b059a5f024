"""Makes what tests are about, through the services that make it in production, driver included."""

from __future__ import annotations

from typing import Any

from agents.core.limits import Limits
from agents.core.loop import Finish
from agents.core.providers.base import Usage
from agents.core.store import Metered
from agents.models import ManifestVersion
from agents.runtime import agent_tools, contexts_for
from agents.services import driving
from agents.services.claiming import Claimed, load_run, take_run
from agents.services.manifests import compiled_version, put_manifest, version_of
from agents.services.sending import Message, send
from approvals.core.gate import GateDraft
from approvals.grants import mint_grant
from approvals.models import Gate, Grant
from felix_web.common.digests import digest
from felix_web.common.ids import new_id
from felix_web.tenancy.principal import Principal
from sessions.core.events import EventKind, NewEvent
from sessions.core.states import RunStatus, StopReason
from sessions.models import Run
from tests import people

LIMITS = Limits(max_tool_calls=20, max_wall_clock_seconds=300, recursion_limit=20)

MANIFEST = """apiVersion: felix/v1
kind: Agent
metadata: {{name: {name}, description: for tests}}
spec:
  pattern: react
  system_prompt: {{inline: "You write files when asked."}}
  tools: [calculator, read_file, write_file, edit_file]
  approvals:
    - {{id: writes, tools: [write_file, edit_file], ttl_seconds: {ttl}{rule}}}
  limits: {{max_tool_calls: 20, max_wall_clock_seconds: 300}}
  execution: {{mode: {mode}}}
"""


def manifest_text(
    name: str = "writer", *, mode: str = "durable", ttl: int = 120, rule: str = ""
) -> str:
    """Return a manifest whose writes are gated. `rule` is further YAML of the rule: `, quorum:
    2`."""
    return MANIFEST.format(name=name, mode=mode, ttl=ttl, rule=rule)


def manifest(name: str = "writer", **facts: Any) -> ManifestVersion:
    """Return the live version of a manifest that dora put."""
    return put_manifest(principal=people.dora(), name=name, text=manifest_text(name, **facts))[0]


def run(
    principal: Principal | None = None,
    *,
    text: str = "write note.txt",
    thread: str | None = "t1",
    name: str = "writer",
    **more: Any,
) -> Run:
    """Return a queued run of a message that was sent; of alice where nobody is named."""
    message = Message(manifest=name, texts=(text,), thread=thread, **more)
    return send(principal=principal or people.alice(), message=message).run


def claimed(row: Run) -> Claimed:
    """Return the run, claimed by a worker."""
    taken = take_run(run_id=row.pk, owner="test", lease_seconds=60)
    assert taken is not None
    return taken


def answered(taken: Claimed, text: str, calls: list[dict[str, Any]] | None = None) -> None:
    """The model answered the claimed run with the text and the calls [{id, name, args}]."""
    payload = {
        "content": text,
        "tool_calls": calls or [],
        "stop_reason": (StopReason.TOOL_USE if calls else StopReason.END_TURN).value,
        "model": "scripted",
    }
    event = NewEvent(EventKind.ASSISTANT_MESSAGE, payload, message_id=new_id("msg"))
    metered = Metered("scripted", "turn", digest(text), Usage(input=11, output=3), 0, 5)
    driving.answer(taken.claim, event, metered, ())


def finished(row: Run, text: str = "all done") -> Run:
    """Return the run after its model answered with a text and it ended."""
    taken = claimed(row)
    answered(taken, text)
    end = Finish(RunStatus.DONE, StopReason.END_TURN)
    driving.finish(taken.claim, end, final_text=text, active_ms=5)
    row.refresh_from_db()
    return row


def failed(row: Run, code: str = "provider_unreachable", message: str = "No answer.") -> Run:
    """Return the run after it failed."""
    taken = claimed(row)
    end = Finish(RunStatus.FAILED, StopReason.ERROR, code, message)
    driving.finish(taken.claim, end, final_text="", active_ms=5)
    row.refresh_from_db()
    return row


def gate(
    row: Run | None = None,
    *,
    tool: str = "write_file",
    args: dict[str, Any] | None = None,
    call_id: str = "call_1",
) -> Gate:
    """Return the waiting gate of a parked run, opened as the driver opens it: contract, evidence
    and all."""
    if row is None:
        manifest()
        row = run()
    given = {"path": "note.txt", "content": "hello\n"} if args is None else args
    taken = claimed(row)
    answered(taken, "", [{"id": call_id, "name": tool, "args": given}])
    driving.ask(taken.claim, _drafts(taken))
    driving.park(taken.claim, active_ms=5)
    return Gate.objects.select_related("run", "thread").get(run_id=row.pk, call_id=call_id)


def asked_again(gate: Gate) -> Gate:
    """Return the waiting gate of the same call, after the world changed under the one before."""
    taken = claimed(gate.run)
    driving.ask(taken.claim, _drafts(taken))
    driving.park(taken.claim, active_ms=5)
    return Gate.objects.filter(run_id=gate.run_id, call_id=gate.call_id).latest("ordinal")


def grant(gate: Gate, by: str = "bob") -> Grant:
    """Return the standing permission that the gate's approval mints under a rule of many calls."""
    return mint_grant(gate=gate, by=by)


def _drafts(taken: Claimed) -> list[GateDraft]:
    from agents.core.controls.base import Ask, Policy
    from agents.core.controls.front import evaluate
    from agents.core.view import RunView

    agent = compiled_version(_version(taken.run))
    loaded = load_run(claimed=taken, limits=LIMITS)
    view = RunView(loaded.facts, frozenset())
    for event in loaded.events:
        view.apply(event)
    view.take_gates(loaded.gates)
    policy = Policy(agent_tools(agent), agent.rules, loaded.grants, workspace_of(taken.run))
    verdicts = evaluate(list(view.open_calls.values()), view, policy)
    return [verdict.draft for verdict in verdicts if isinstance(verdict, Ask)]


def _version(row: Run) -> ManifestVersion:
    return version_of(tenant_id=row.tenant_id, name=row.manifest, number=row.manifest_version)


def workspace_of(row: Run) -> Any:
    """Return the maker of call contexts on the run's workspace:
    `workspace_of(run).workspace.replace(...)`."""
    return contexts_for(
        agent=compiled_version(_version(row)),
        tenant_id=row.tenant_id,
        tenant_slug=row.tenant.slug,
        thread=row.thread.suffix,
        thread_id=row.thread_id,
    )
