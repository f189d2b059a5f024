"""The rail: the other threads beside the one that is open."""

from __future__ import annotations

from typing import NamedTuple

from agents.views.present.thread_row import ThreadRow, present_rows
from agents.views.selectors import ThreadFilter, thread_page
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import tenant_snapshot

BANDS = ("Waiting", "Running", "Recent")
ROWS = (20, 20, 15)


class Group(NamedTuple):
    """Threads of one kind under a name."""

    name: str
    rows: tuple[ThreadRow, ...]


def rail_of(*, principal: Principal) -> list[Group]:
    """Return the groups that have threads: those that wait, those that run, the newest others."""
    with tenant_snapshot(principal.tenant_id):
        wire, _ = thread_page(principal=principal, chosen=ThreadFilter())
    rows = present_rows(wire, viewer=principal.name)
    groups = [
        Group(name, tuple(row for row in rows if row.band == band)[: ROWS[band]])
        for band, name in enumerate(BANDS)
    ]
    return [group for group in groups if group.rows]
