"""One thread of the list, and the order of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agents.views.present.faces import Face, run_face
from agents.views.present.gate import waits_on
from agents.views.present.numbers import table_usd
from agents.views.present.transcript import reason_words
from sessions.core.states import RunStatus

Wire = Mapping[str, Any]
UNTITLED = "New thread"
IDLE = Face("No run yet", "muted", "muted")
BANDS: dict[str, int] = {RunStatus.WAITING: 0, RunStatus.RUNNING: 1, RunStatus.QUEUED: 1}


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A row. `deadline_ms` is set while a gate waits; `starts_band` draws a heavier rule above."""

    thread_id: str
    title: str
    face: Face
    agent: str
    doing: str
    owner: str
    cost: str
    cost_is_certain: bool
    updated_ms: int
    started_ms: int | None
    deadline_ms: int | None
    band: int
    starts_band: bool = False

    @property
    def waits_on_you(self) -> bool:
        """True where this person can decide."""
        return self.face.tone == "waiting"

    @property
    def link(self) -> str:
        """Where its link goes inside the page: a waiting thread opens at its gate."""
        return "#gate" if self.deadline_ms is not None else ""


def _agent(row: Wire) -> str:
    name = str(row.get("manifest") or "")
    return f"{name}@{row['version']}" if name and row.get("version") else name


def _doing(row: Wire) -> str:
    if row.get("doing"):
        return str(row["doing"])
    error = row.get("error")
    if isinstance(error, Mapping) and error.get("message"):
        return str(error["message"])
    return reason_words(str(row.get("reason") or ""))


def _waits_on(row: Wire, viewer: str) -> bool:
    gate = row.get("gate")
    return isinstance(gate, Mapping) and waits_on(gate, viewer)


def _row(row: Wire, viewer: str) -> ThreadRow:
    status = str(row.get("status") or "")
    micros = row.get("cost")
    is_waiting = status == RunStatus.WAITING
    is_active = status in BANDS
    return ThreadRow(
        thread_id=str(row["thread_id"]),
        title=str(row.get("title") or UNTITLED),
        face=run_face(status, waits_on_you=_waits_on(row, viewer)) if status else IDLE,
        agent=_agent(row),
        doing=_doing(row),
        owner=str(row.get("owner") or ""),
        cost=table_usd(micros) if isinstance(micros, int) else "",
        cost_is_certain=bool(row.get("certain", True)),
        updated_ms=int(row.get("updated_at") or 0),
        started_ms=(row.get("started_at") or row.get("created_at")) if is_active else None,
        deadline_ms=row.get("deadline") if is_waiting else None,
        band=BANDS.get(status, 2),
    )


def _order(row: ThreadRow) -> tuple[int, int, int]:
    if row.band == 0:
        return 0, row.deadline_ms or 2**62, -row.updated_ms
    return row.band, -row.updated_ms, 0


def present_rows(rows: Iterable[Wire], *, viewer: str) -> tuple[ThreadRow, ...]:
    """Return the rows: waiting ones by deadline, then running ones, then the rest, newest first."""
    ordered = sorted((_row(row, viewer) for row in rows), key=_order)
    result: list[ThreadRow] = []
    for row in ordered:
        starts = bool(result) and result[-1].band != row.band
        result.append(replace(row, starts_band=True) if starts else row)
    return tuple(result)
