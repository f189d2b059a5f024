"""The shape of a felix/v1 manifest: closed, strict, and only what this build enforces.

Rules that need more than one field, or the tools of the build, stand in checks.py.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agents.core.limits import (
    DEFAULT_MAX_TOOL_CALLS,
    DEFAULT_MAX_WALL_CLOCK_SECONDS,
    DEFAULT_RECURSION_LIMIT,
    MAX_RECURSION_LIMIT,
    MAX_TOOL_CALLS,
    MAX_WALL_CLOCK_SECONDS,
)

MAX_NAME = 128
MAX_RULES = 64
MAX_STARTERS = 8
MAX_QUORUM = 5
WEEK_SECONDS = 604_800
NAME_PATTERN = r"^[._-]*[A-Za-z0-9][A-Za-z0-9._-]*$"
TOOL_PATTERN = r"^[A-Za-z0-9_.*?-]+$"

# Pydantic's own $ is the end of the text, never the place before a last line end.
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME, pattern=NAME_PATTERN)]
ToolName = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
ToolPattern = Annotated[str, Field(min_length=1, max_length=MAX_NAME, pattern=TOOL_PATTERN)]
ArgumentName = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Tag = Annotated[str, Field(min_length=1, max_length=64)]
Reviewer = Literal["operator", "reviewer", "admin"]


class ManifestPart(BaseModel):
    """An object of a manifest: no unknown key, no value of another type, no later change."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Starter(ManifestPart):
    """A suggested first message. `prompt` is sent as it stands."""

    title: str = Field(min_length=1, max_length=60)
    prompt: str = Field(min_length=1, max_length=2000)


class Greeting(ManifestPart):
    """What an empty thread says before the first message; for display only."""

    headline: str = Field(min_length=1, max_length=80)
    subtitle: str | None = Field(None, min_length=1, max_length=300)


class Metadata(ManifestPart):
    """Who the agent is. `name` is the manifest's id and the model id of `/v1`."""

    name: Name
    version: str = Field("1.0.0", description="The author's own label.")
    description: str = ""
    tags: list[Tag] = []
    starters: list[Starter] = Field([], max_length=MAX_STARTERS)
    greeting: Greeting | None = None


class ModelSpec(ManifestPart):
    """Which model answers. Without `id` the deployment's active model does."""

    id: str | None = Field(None, min_length=1, max_length=200)
    temperature: float = Field(0.0, ge=0, le=2)
    max_tokens: int | None = Field(
        None, ge=1, description="Per answer; a request may only lower it."
    )


class SystemPrompt(ManifestPart):
    """What the agent is told first, after the deployment's own base prompt."""

    inline: str = ""


class Approval(ManifestPart):
    """Which calls a person must allow, who may decide, and how long a gate waits."""

    id: str = Field(min_length=1, max_length=MAX_NAME, pattern=r"^\S(.*\S)?$")
    description: str = Field(
        "", max_length=2048, description="What the reviewer reads as the reason."
    )
    tools: list[ToolPattern] = Field(
        min_length=1, description="Tool names, or patterns with * and ?."
    )
    ttl_seconds: int | None = Field(
        None,
        ge=1,
        le=WEEK_SECONDS,
        description="Over 3,600 only in durable mode. Default: 300, and 86,400 in durable mode.",
    )
    one_shot: bool = True
    bind_principal: bool = False
    allow_unattended: bool = False
    when_args: list[ArgumentName] = []
    reviewers: list[Reviewer] = Field(["reviewer", "admin"], min_length=1)
    quorum: int = Field(1, ge=1, le=MAX_QUORUM)
    allow_self: bool = True
    extendable: bool = True


class LimitsSpec(ManifestPart):
    """Bounds of one run. Zero is zero: `max_tool_calls: 0` allows no call."""

    max_tool_calls: int = Field(DEFAULT_MAX_TOOL_CALLS, ge=0, le=MAX_TOOL_CALLS)
    max_wall_clock_seconds: int = Field(
        DEFAULT_MAX_WALL_CLOCK_SECONDS, ge=1, le=MAX_WALL_CLOCK_SECONDS
    )


class SessionSpec(ManifestPart):
    """How the log becomes the model's history."""

    strategy: Literal["full_replay"] = "full_replay"


class Execution(ManifestPart):
    """How a run lives: whether its sender waits, in what order calls run, when it expires."""

    mode: Literal["transient", "durable"] = "transient"
    tools: Literal["sequential", "parallel"] = "sequential"
    resume_token_ttl_seconds: int = Field(WEEK_SECONDS, ge=1, le=WEEK_SECONDS)


class WorkspaceSpec(ManifestPart):
    """Who shares the directory that file tools see. `deployment` is for allow-listed tenants."""

    scope: Literal["thread", "tenant", "deployment"] = "thread"


class Spec(ManifestPart):
    """What the agent does. Left out entirely, it is an agent without tools."""

    pattern: Literal["react"] = "react"
    model: ModelSpec = ModelSpec()
    system_prompt: SystemPrompt = SystemPrompt()
    tools: list[ToolName] = []
    approvals: list[Approval] = Field([], max_length=MAX_RULES)
    limits: LimitsSpec = LimitsSpec()
    recursion_limit: int = Field(
        DEFAULT_RECURSION_LIMIT, ge=1, le=MAX_RECURSION_LIMIT, description="Model calls of one run."
    )
    session: SessionSpec = SessionSpec()
    execution: Execution = Execution()
    workspace: WorkspaceSpec = WorkspaceSpec()


class Manifest(ManifestPart):
    """A felix/v1 manifest: one governed agent."""

    api_version: Literal["felix/v1"] = Field("felix/v1", alias="apiVersion")
    kind: Literal["Agent"] = "Agent"
    metadata: Metadata
    spec: Spec = Spec()


def manifest_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a manifest, as `schemas/felix-v1.schema.json` holds it."""
    schema = Manifest.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
