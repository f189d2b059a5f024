"""Compiles a manifest document into what the driver runs: the only way to an agent."""

from __future__ import annotations

from dataclasses import dataclass

from agents.core.limits import Limits
from agents.core.manifest.checks import Tools
from agents.core.manifest.document import Document
from agents.core.manifest.hash import content_hash
from agents.core.manifest.schema import Approval, Manifest
from agents.core.manifest.validate import checked_manifest
from approvals.core.rules import ApprovalRule
from sessions.core.states import RunMode

PROMPT_SEPARATOR = "\n\n---\n\n"


@dataclass(frozen=True, slots=True)
class Greeting:
    """What an empty thread says; `subtitle` may be empty."""

    headline: str
    subtitle: str = ""


@dataclass(frozen=True, slots=True)
class Starter:
    """A suggested first message; `prompt` is sent as it stands."""

    title: str
    prompt: str


@dataclass(frozen=True, slots=True)
class CompiledAgent:
    """One agent, ready to run. Nothing in it can change.

    Attributes:
        version: The stored version's number, 0 where it was never stored.
        label: The author's own `metadata.version`.
        model_id: None means the deployment's active model.
        max_tokens: Of one answer; None means the model's own bound.
        tools: Names in the manifest's order, without those every agent has.
        parallel_tools: Read-only and replay-safe calls of one message may run at once.
        run_ttl_seconds: How long after its start a run expires.
        workspace_scope: `thread`, `tenant` or `deployment`.
    """

    name: str
    version: int
    content_hash: str
    label: str
    description: str
    tags: tuple[str, ...]
    starters: tuple[Starter, ...]
    greeting: Greeting | None
    system_prompt: str
    model_id: str | None
    temperature: float
    max_tokens: int | None
    tools: tuple[str, ...]
    rules: tuple[ApprovalRule, ...]
    limits: Limits
    mode: RunMode
    parallel_tools: bool
    run_ttl_seconds: int
    workspace_scope: str


def compile_agent(
    document: Document,
    *,
    tools: Tools,
    version: int = 0,
    base_system_prompt: str = "",
    deployment_scope_allowed: bool = False,
) -> CompiledAgent:
    """Return the agent of a document.

    A stored manifest is compiled from its stored text, or from `Document(json, name)`; it is
    checked again each time, so that a manifest which this build can no longer enforce does not run.

    Args:
        tools: The tools of this build by name.
        base_system_prompt: The deployment's own; the manifest's is added behind it.
        deployment_scope_allowed: The tenant is on the operator's list for `workspace.scope:
            deployment`.

    Raises:
        ManifestInvalid: names everything that is wrong, each with its place.
    """
    manifest = checked_manifest(
        document, tools=tools, deployment_scope_allowed=deployment_scope_allowed
    )
    return _agent(manifest, version, _system_prompt(manifest, base_system_prompt))


def _agent(manifest: Manifest, version: int, system_prompt: str) -> CompiledAgent:
    meta, spec = manifest.metadata, manifest.spec
    greeting = meta.greeting
    return CompiledAgent(
        name=meta.name,
        version=version,
        content_hash=content_hash(manifest),
        label=meta.version,
        description=meta.description,
        tags=tuple(meta.tags),
        starters=tuple(Starter(starter.title, starter.prompt) for starter in meta.starters),
        greeting=Greeting(greeting.headline, greeting.subtitle or "") if greeting else None,
        system_prompt=system_prompt,
        model_id=spec.model.id,
        temperature=spec.model.temperature,
        max_tokens=spec.model.max_tokens,
        tools=tuple(spec.tools),
        rules=tuple(_rule(approval) for approval in spec.approvals),
        limits=_limits(manifest),
        mode=RunMode(spec.execution.mode),
        parallel_tools=spec.execution.tools == "parallel",
        run_ttl_seconds=spec.execution.resume_token_ttl_seconds,
        workspace_scope=spec.workspace.scope,
    )


def _system_prompt(manifest: Manifest, base: str) -> str:
    parts = [part.strip() for part in (base, manifest.spec.system_prompt.inline)]
    joined = PROMPT_SEPARATOR.join(part for part in parts if part)
    return joined or f"You are {manifest.metadata.name}."


def _limits(manifest: Manifest) -> Limits:
    declared = manifest.spec.limits
    return Limits(
        max_tool_calls=declared.max_tool_calls,
        max_wall_clock_seconds=declared.max_wall_clock_seconds,
        recursion_limit=manifest.spec.recursion_limit,
    )


def _rule(approval: Approval) -> ApprovalRule:
    return ApprovalRule(
        id=approval.id,
        description=approval.description,
        tools=tuple(approval.tools),
        ttl_seconds=approval.ttl_seconds,
        one_shot=approval.one_shot,
        bind_principal=approval.bind_principal,
        allow_unattended=approval.allow_unattended,
        when_args=tuple(approval.when_args),
        reviewers=tuple(approval.reviewers),
        quorum=approval.quorum,
        allow_self=approval.allow_self,
        extendable=approval.extendable,
    )
