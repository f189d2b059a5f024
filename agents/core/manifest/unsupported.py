"""felix/v1 fields and values that this build knows by name and does not implement.

A field that is accepted is enforced (L13), so these are refused. They are told apart from spelling
mistakes, because the author of a correct manifest must not be sent looking for one. A field that
gets built leaves this table.
"""

from __future__ import annotations

_SPEC = """
    a2a aggregator_prompt anomaly artifacts auth browser_tools client_tools command_screening
    containers content_screening decider delegation document_tools extensions github_publish
    governance guardrails hooks http_tools image_tools max_turns mcp mcp_servers memory
    observability output_schema peers permissions personal_skills plan_execute policies
    procedural_memory prompts queues reflect sandboxes search_tools shell_tools skill_authoring
    skill_suggestion skills skills_declared_only sub_agents tool_guidance tools_retrieval
"""
_MODEL = "cache confidence_escalation fallbacks price thinking_budget thinking_level vision_model"
_SESSION = """
    branch_summary compact_after_turn compaction_enabled context_window_tokens follow_up_mode
    keep_recent_tokens reserve_tokens steering_mode
"""

FIELDS: dict[str, frozenset[str]] = {
    "spec": frozenset(_SPEC.split()),
    "spec.model": frozenset(_MODEL.split()),
    "spec.system_prompt": frozenset(
        ["append_system_md", "base", "files", "include_tool_guidance", "soul", "system_md"]
    ),
    "spec.session": frozenset(_SESSION.split()),
    "spec.execution": frozenset({"webhooks"}),
    "spec.limits": frozenset(
        ["max_cost_usd", "max_input_tokens", "max_output_tokens", "max_peer_hops", "precount"]
    ),
}
"""Field names by the dotted path of the object that holds them, list indexes left out."""

PATTERNS = frozenset(["deep", "groupchat", "parallel", "plan_execute", "reflect", "router"])
STRATEGIES = frozenset(["compacting", "semantic", "summarizing", "windowed"])
TOOLS = frozenset(
    [
        "activate_skill",
        "ask_user",
        "create_skill",
        "deactivate_skill",
        "delete_file",
        "exit_plan_mode",
        "forget",
        "list_memories",
        "list_skills",
        "read_artifact",
        "read_skill_file",
        "recall",
        "remember",
        "remember_procedure",
        "rename_file",
        "submit_skill_feedback",
        "task",
        "task_result",
        "update_skill",
    ]
)


def is_unsupported_value(where: str, value: str) -> bool:
    """Return whether felix/v1 has this value for the field at the path and this build has not."""
    if where == "spec.pattern":
        return value in PATTERNS
    return where == "spec.session.strategy" and value.split(":")[0] in STRATEGIES
