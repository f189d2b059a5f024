"""Reading what spans threads, runs and manifests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, OuterRef, Q, Subquery

from agents.core.manifest.bundled import bundled_names
from agents.models import Manifest
from felix_web.tenancy.scoping import tenant_snapshot
from sessions.core.states import RunStatus
from sessions.models import Run, Thread, ThreadKind
from sessions.models.run import ACTIVE


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread of a list. `status` is that of its run that has not ended, or None; `is_scripted`
    where its newest run is the demo model's.
    """

    thread: Thread
    status: RunStatus | None
    is_scripted: bool = False


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """A manifest a run may be started with; `version` None for a bundled one that was not used
    yet.
    """

    name: str
    version: int | None
    is_bundled: bool


def status_at(run: Run, now: datetime) -> RunStatus:
    """Return the run's status, with one whose time is over and that nobody drives as expired."""
    status = RunStatus(run.status)
    is_driven = (
        status is RunStatus.RUNNING and run.lease_until is not None and run.lease_until >= now
    )
    over = status.is_active and run.expires_at <= now and not is_driven
    return RunStatus.EXPIRED if over else status


def wire_thread(run: Run) -> str | None:
    """Return the id of a run's thread as callers know it, or None for a hidden one."""
    thread = run.thread
    return None if thread.kind == ThreadKind.EPHEMERAL else thread.suffix


def threads_page(
    *, tenant_id: int, limit: int, before: tuple[datetime, int] | None = None
) -> list[ThreadRow]:
    """Return the tenant's threads, newest change first; one more than `limit` where there are more.

    Hidden and deleted threads are left out.

    Args:
        before: (updated_at, pk) of the last row of the page before.
    """
    with tenant_snapshot(tenant_id):
        rows = Thread.objects.for_tenant(tenant_id).filter(kind=ThreadKind.CHAT, deleted_at=None)
        if before is not None:
            moment, pk = before
            rows = rows.filter(Q(updated_at__lt=moment) | Q(updated_at=moment, pk__lt=pk))
        page = list(rows.order_by("-updated_at", "-pk")[: limit + 1])
        going = dict(
            Run.objects.filter(
                thread_id__in=[row.pk for row in page], parent_run=None, status__in=ACTIVE
            ).values_list("thread_id", "status")
        )
        scripted = _scripted_among(page)
    return [
        ThreadRow(row, RunStatus(going[row.pk]) if row.pk in going else None, row.pk in scripted)
        for row in page
    ]


def _scripted_among(threads: list[Thread]) -> set[int]:
    newest = Run.objects.filter(thread=OuterRef("pk")).order_by("-created_at")
    marked = Thread.objects.filter(pk__in=[thread.pk for thread in threads]).annotate(
        scripted=Subquery(newest.values("is_scripted")[:1])
    )
    return set(marked.filter(scripted=True).values_list("pk", flat=True))


def manifest_rows(*, tenant_id: int) -> list[ManifestRow]:
    """Return the manifests a run may be started with: the tenant's own and the bundled ones, by
    name.
    """
    bundled = bundled_names()
    with tenant_snapshot(tenant_id):
        own = list(
            Manifest.objects.for_tenant(tenant_id)
            .filter(archived_at=None, versions__number=F("live_version"))
            .values_list("name", "live_version", "versions__is_bundled")
        )
    stored = {name: ManifestRow(name, version, is_bundled) for name, version, is_bundled in own}
    unused = {name: ManifestRow(name, None, True) for name in bundled if name not in stored}
    return [row for _, row in sorted((stored | unused).items())]
