"""The bounds of one run: what a manifest may declare, and what holds where it declares nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

MAX_TOOL_CALLS = 500
MAX_WALL_CLOCK_SECONDS = 3600
MAX_RECURSION_LIMIT = 50

DEFAULT_MAX_TOOL_CALLS = 500
DEFAULT_MAX_WALL_CLOCK_SECONDS = 3600
DEFAULT_RECURSION_LIMIT = 10


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use; `recursion_limit` counts model calls. Zero means none at all."""

    max_tool_calls: int = DEFAULT_MAX_TOOL_CALLS
    max_wall_clock_seconds: int = DEFAULT_MAX_WALL_CLOCK_SECONDS
    recursion_limit: int = DEFAULT_RECURSION_LIMIT

    def within(self, max_turns: int) -> Limits:
        """Return these limits with at most so many model calls, which is what the model allows."""
        return replace(self, recursion_limit=min(self.recursion_limit, max_turns))
