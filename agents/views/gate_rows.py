"""Gates of lists and pages: evidence is read of those alone that show it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from approvals.core.gate import GateStatus
from approvals.models import Gate
from approvals.selectors import gate_json, heavy_parts
from felix_web.tenancy.principal import Principal

Wire = dict[str, Any]


def gate_rows(gates: Iterable[Gate], *, now: datetime, principal: Principal) -> list[Wire]:
    """Return the wire of gates that were read without evidence.

    Where the evidence names no target, the arguments are read to say what the call is about.
    """
    rows = [gate_json(gate, now=now, principal=principal) for gate in gates]
    bare = [row["gate_id"] for row in rows if not row["evidence"].get("target")]
    args = heavy_parts(bare, names=("args",))
    return [row | args.get(row["gate_id"], {}) for row in rows]


def page_gates(gates: Iterable[Gate], *, now: datetime, principal: Principal) -> list[Wire]:
    """Return the wire of gates that were read without evidence, those that wait with theirs.

    A settled one is not `is_whole`: what was asked stands on its own page.
    """
    rows = gate_rows(gates, now=now, principal=principal)
    waiting = heavy_parts(row["gate_id"] for row in rows if _waits(row))
    edited = heavy_parts((row["gate_id"] for row in rows if not _waits(row)), ("edited_args",))
    heavy = waiting | edited
    return [row | heavy[row["gate_id"]] | {"is_whole": _waits(row)} for row in rows]


def _waits(row: Wire) -> bool:
    return bool(row["status"] == GateStatus.WAITING)
