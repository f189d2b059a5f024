"""Rules of a manifest that need more than one field, the tools of the build, or the tenant.

They read the raw document, so that they also speak up where its shape is wrong elsewhere: an author
gets one list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Protocol

from pydantic import BaseModel

from agents.core.manifest.document import Document
from agents.core.manifest.nearest import hint
from agents.core.manifest.problems import Path, Problem, shown
from agents.core.manifest.schema import MAX_NAME, MAX_RULES, TOOL_PATTERN, WEEK_SECONDS
from agents.core.manifest.unsupported import TOOLS

MAX_INTERACTIVE_TTL_SECONDS = 3600


class KnownTool(Protocol):
    """What a manifest needs to know of a tool: the names of its arguments."""

    @property
    def args(self) -> type[BaseModel]:
        """The model of its arguments."""


Tools = Mapping[str, KnownTool]


def rule_problems(
    document: Document, *, tools: Tools, deployment_scope_allowed: bool
) -> Iterator[Problem]:
    """Yield what is wrong beyond the shape."""
    yield from _agent_tools(document, tools)
    yield from _repeated_ids(document)
    for index in _rule_indexes(document):
        base: Path = ("spec", "approvals", index)
        yield from _rule_tools(document, base, tools)
        yield from _rule_arguments(document, base, tools)
        yield from _rule_deadline(document, base)
        yield from _repeated(document, (*base, "when_args"), "argument")
        yield from _repeated(document, (*base, "reviewers"), "role")
    yield from _scope(document, deployment_scope_allowed)


def _texts(document: Document, path: Path) -> list[tuple[int, str]]:
    """Return the text entries of a list with their indexes; the schema refuses any other."""
    value = document.get(*path)
    if not isinstance(value, list):
        return []
    return [(index, entry) for index, entry in enumerate(value) if isinstance(entry, str)]


def _rule_indexes(document: Document) -> range:
    rules = document.get("spec", "approvals")
    return range(min(len(rules), MAX_RULES)) if isinstance(rules, list) else range(0)


def _repeated(document: Document, path: Path, noun: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, entry in _texts(document, path):
        if entry in seen:
            yield document.problem((*path, index), f"{noun} {shown(entry)} is listed twice")
        seen.add(entry)


def _repeated_ids(document: Document) -> Iterator[Problem]:
    seen: set[str] = set()
    for index in _rule_indexes(document):
        path: Path = ("spec", "approvals", index, "id")
        rule_id = document.get(*path)
        if not isinstance(rule_id, str):
            continue
        if rule_id in seen:
            yield document.problem(path, f"approval id {shown(rule_id)} is given twice")
        seen.add(rule_id)


def _agent_tools(document: Document, tools: Tools) -> Iterator[Problem]:
    path: Path = ("spec", "tools")
    for index, name in _texts(document, path):
        if name not in tools:
            yield document.problem((*path, index), _unknown_tool(name, tools))
    yield from _repeated(document, path, "tool")


def _unknown_tool(name: str, tools: Iterable[str]) -> str:
    if name in TOOLS:
        return f"tool {name} is not supported by this build"
    return f"there is no tool {shown(name)}{hint(name, tools)}"


def _rule_entries(document: Document, base: Path) -> list[tuple[int, str]]:
    """Return a rule's tools; an entry that the schema refuses is not looked at twice."""
    entries = _texts(document, (*base, "tools"))
    return [
        (index, entry)
        for index, entry in entries
        if len(entry) <= MAX_NAME and re.fullmatch(TOOL_PATTERN, entry)
    ]


def _is_pattern(name: str) -> bool:
    return "*" in name or "?" in name


def _rule_tools(document: Document, base: Path, tools: Tools) -> Iterator[Problem]:
    path: Path = (*base, "tools")
    for index, name in _rule_entries(document, base):
        if not _is_pattern(name):
            if name not in tools:
                yield document.problem((*path, index), _unknown_tool(name, tools))
        elif not any(fnmatchcase(tool, name) for tool in tools):
            message = f"no tool matches {shown(name)}; the rule would guard nothing"
            yield document.problem((*path, index), message)
    yield from _repeated(document, path, "tool")


def _covered(document: Document, base: Path, tools: Tools) -> list[str]:
    """Return the tools a rule names, and those of the agent that its patterns match."""
    own = {name for _, name in _texts(document, ("spec", "tools")) if name in tools}
    names: list[str] = []
    for _, entry in _rule_entries(document, base):
        matched = [name for name in tools if name in own and fnmatchcase(name, entry)]
        names += matched if _is_pattern(entry) else [entry]
    return [name for name in dict.fromkeys(names) if name in tools]


def _rule_arguments(document: Document, base: Path, tools: Tools) -> Iterator[Problem]:
    """Refuse a condition that can never hold: the tool would run without anybody being asked."""
    wanted = _texts(document, (*base, "when_args"))
    if not wanted:
        return
    for name in _covered(document, base, tools):
        arguments = tools[name].args.model_fields
        for index, argument in wanted:
            if argument not in arguments:
                message = (
                    f"tool {name} has no argument {shown(argument)}{hint(argument, arguments)}; "
                    "the rule could never apply to it"
                )
                yield document.problem((*base, "when_args", index), message)


def _rule_deadline(document: Document, base: Path) -> Iterator[Problem]:
    ttl = document.get(*base, "ttl_seconds")
    mode = document.get("spec", "execution", "mode")
    if not isinstance(ttl, int) or mode == "durable":
        return
    if MAX_INTERACTIVE_TTL_SECONDS < ttl <= WEEK_SECONDS:
        message = (
            "ttl_seconds over 3,600 needs execution.mode durable: a transient run does not wait"
        )
        yield document.problem((*base, "ttl_seconds"), message)


def _scope(document: Document, deployment_scope_allowed: bool) -> Iterator[Problem]:
    path: Path = ("spec", "workspace", "scope")
    if document.get(*path) == "deployment" and not deployment_scope_allowed:
        yield document.problem(path, "workspace scope deployment is not open to this tenant")
