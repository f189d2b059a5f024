"""Which calls a person must allow: the manifest's approval rules (decisions 2.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

DEFAULT_TTL_INTERACTIVE_SECONDS = 300
DEFAULT_TTL_DURABLE_SECONDS = 86_400
DEFAULT_REVIEWERS = ("reviewer", "admin")


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """One rule. `ttl_seconds` None means the default of the run's mode; see `ttl`.

    Attributes:
        tools: Tool names or globs; a literal name beats a pattern.
        one_shot: True: one gate per call. False: an approval also mints a grant for identical
            calls on what is the same then.
        bind_principal: The approval, or grant, holds only for the principal that asked.
        allow_unattended: A run that nobody attends waits too; otherwise its call is denied at once.
        when_args: The rule holds only where each named argument is present (not null, not empty; 0
            and false are).
        reviewers: Roles that may decide; the operator who owns the thread may as well, unless
            `allow_self` is off.
        quorum: Members that must approve, 1 to 5. One denial denies.
    """

    id: str
    description: str = ""
    tools: tuple[str, ...] = ()
    ttl_seconds: int | None = None
    one_shot: bool = True
    bind_principal: bool = False
    allow_unattended: bool = False
    when_args: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = DEFAULT_REVIEWERS
    quorum: int = 1
    allow_self: bool = True
    extendable: bool = True

    def ttl(self, *, durable: bool) -> int:
        """Return how long a gate of this rule waits, in seconds."""
        if self.ttl_seconds is not None:
            return self.ttl_seconds
        return DEFAULT_TTL_DURABLE_SECONDS if durable else DEFAULT_TTL_INTERACTIVE_SECONDS


def _is_present(value: Any) -> bool:
    return value is not None and value not in ("", [], {}, ())


def _applies(rule: ApprovalRule, args: dict[str, Any]) -> bool:
    return all(_is_present(args.get(name)) for name in rule.when_args)


def rule_for(rules: Sequence[ApprovalRule], tool: str, args: dict[str, Any]) -> ApprovalRule | None:
    """Return the rule that gates the call, or None.

    A rule that names the tool literally comes before one that matches by pattern; then the
    manifest's order.
    """
    holding = [rule for rule in rules if _applies(rule, args)]
    for rule in holding:
        if tool in rule.tools:
            return rule
    for rule in holding:
        if any(fnmatchcase(tool, pattern) for pattern in rule.tools):
            return rule
    return None
