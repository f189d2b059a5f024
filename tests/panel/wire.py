"""Gates, events and runs as they stand on the wire, with readable defaults."""

from __future__ import annotations

from typing import Any

NOON_MS = 1_795_960_800_000


def at(seconds: float) -> int:
    """Return a moment of the story, in epoch milliseconds."""
    return NOON_MS + int(seconds * 1000)


def gate(**changes: Any) -> dict[str, Any]:
    """Return a waiting approval of a one-line change that ana may decide."""
    return {
        "gate_id": "gate_1",
        "kind": "approval",
        "run_id": "run_1",
        "thread_id": "staging",
        "call_id": "call_1",
        "tool": "write_file",
        "args": {"path": "config/staging.toml", "content": "x"},
        "edited_args": None,
        "evidence": {
            "title": "What will be written",
            "target": "config/staging.toml",
            "diff": [["-", 1, 0, 'key = "a-07"'], ["+", 0, 1, 'key = "a-08"']],
            "text": "",
            "added": 1,
            "removed": 1,
            "total": 1,
            "note": "",
        },
        "rule_id": "write",
        "reason": "every write is asked about",
        "manifest": "governed",
        "version": 14,
        "digest": "9f2c71ab" * 8,
        "revision": 1,
        "status": "waiting",
        "created_at": at(60),
        "expires_at": at(360),
        "settled_at": None,
        "settled_because": "",
        "decided_by": "",
        "note": "",
        "quorum": 1,
        "approvals": [],
        "can_decide": True,
        "why_not": "",
    } | changes


def long_gate(lines: int, **changes: Any) -> dict[str, Any]:
    """Return a gate whose change adds so many lines."""
    diff = [["+", 0, number + 1, f"line {number + 1}"] for number in range(lines)]
    evidence = gate()["evidence"] | {"diff": diff, "added": lines, "removed": 0, "total": lines}
    return gate(evidence=evidence, **changes)


def run(**changes: Any) -> dict[str, Any]:
    """Return a run that is going."""
    return {
        "run_id": "run_1",
        "status": "running",
        "reason": "",
        "manifest": "governed",
        "version": 14,
        "mode": "durable",
        "model": "some/model",
        "scripted": False,
        "started_by": "ana",
        "created_at": at(0),
        "started_at": at(0),
        "finished_at": None,
        "usage": {
            "input": 41_220,
            "output": 1_204,
            "cache_read": 36_010,
            "cache_write": 0,
            "cost_usd_micros": 211_400,
            "certain": True,
            "model_ms": 31_400,
        },
        "limits": {"max_tool_calls": 40, "recursion_limit": 20},
        "error": None,
    } | changes


class Log:
    """Collects events with dense numbers."""

    def __init__(self, first_seq: int = 0) -> None:
        self.events: list[dict[str, Any]] = []
        self._seq = first_seq

    def add(self, kind: str, seconds: float, **payload: Any) -> Log:
        """The log has one more event."""
        event = {"seq": self._seq, "branch_id": 0, "kind": kind, "run_id": "run_1"}
        self.events.append(event | {"ts": at(seconds)} | payload)
        self._seq += 1
        return self

    def asks(self, seconds: float, *calls: tuple[str, str, dict[str, Any]], say: str = "") -> Log:
        """The agent asks for calls: (id, tool, arguments)."""
        named = [{"id": one, "name": tool, "args": args} for one, tool, args in calls]
        return self.add("assistant_message", seconds, content=say, tool_calls=named)

    def ends(self, seconds: float, call_id: str, status: str = "done", **more: Any) -> Log:
        """A call has its result."""
        result = {"call_id": call_id, "tool": "shell", "status": status, "content": "ok"}
        return self.add("tool_result", seconds, **(result | more))
