"""The built-in tools, in the one order in which models are told of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from agents.core.tools.base import Tool
from agents.core.tools.calculator import CALCULATOR
from agents.core.tools.edit_file import EDIT_FILE
from agents.core.tools.list_dir import LIST_DIR
from agents.core.tools.list_files import LIST_FILES
from agents.core.tools.read_file import READ_FILE
from agents.core.tools.read_output import READ_OUTPUT
from agents.core.tools.search_files import SEARCH_FILES
from agents.core.tools.write_file import WRITE_FILE
from felix_web.common.errors import InvalidInput

# The order is part of a prompt's prefix: a change of it empties every provider's cache.
_TOOLS: Mapping[str, Tool] = MappingProxyType(
    {
        tool.name: tool
        for tool in (
            CALCULATOR,
            LIST_DIR,
            LIST_FILES,
            READ_FILE,
            WRITE_FILE,
            EDIT_FILE,
            SEARCH_FILES,
            READ_OUTPUT,
        )
    }
)
# Bound whatever a manifest lists: any tool's output may be too long to show at once.
ALWAYS_BOUND = frozenset({READ_OUTPUT.name})


class UnknownTool(InvalidInput):
    """No tool of this build has this name."""

    code = "unknown_tool"
    title = "Unknown tool"


def builtin_tools() -> Mapping[str, Tool]:
    """Return every built-in tool by its name, in the fixed order; the mapping cannot be changed."""
    return _TOOLS


def known_tool_names() -> tuple[str, ...]:
    """Return the names of the built-in tools in the fixed order."""
    return tuple(_TOOLS)


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was most likely meant; None where none is near."""
    near = get_close_matches(name[:100], list(known), n=1)
    return near[0] if near else None


def bound_tools(names: Iterable[str]) -> Mapping[str, Tool]:
    """Return the tools of an agent in the fixed order, those that are always bound with them.

    Args:
        names: The tools that a manifest lists, in any order.

    Raises:
        UnknownTool: one of them is not a built-in tool; the message names the nearest.
    """
    wanted = set(names)
    for name in sorted(wanted - set(_TOOLS)):
        near = nearest_name(name, _TOOLS)
        hint = f"; did you mean {near}?" if near else "."
        raise UnknownTool(f"{name} is not a tool of this build{hint}")
    kept = {name: tool for name, tool in _TOOLS.items() if name in wanted | ALWAYS_BOUND}
    return MappingProxyType(kept)
