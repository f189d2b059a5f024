"""What nobody can come back for is deleted: lapsed keys, and hidden threads with their files."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from agents.core.tools.paths import WorkspaceScope, workspace_root
from agents.core.tools.removing import remove_tree
from approvals.models import Grant
from felix_web.tenancy.scoping import database_now, system_scope, system_snapshot
from sessions.models import IdempotencyKey, Thread, ThreadKind
from sessions.models.run import ACTIVE

log = logging.getLogger(__name__)

AT_ONCE = 200
EPHEMERAL_SECONDS = 3600


def delete_lapsed_keys() -> None:
    """Idempotency keys past their 24 hours are gone."""
    with system_snapshot():
        lapsed = IdempotencyKey.objects.filter(expires_at__lte=database_now())
        ids = list(lapsed.values_list("pk", flat=True)[:AT_ONCE])
    if ids:
        with system_scope():
            IdempotencyKey.objects.filter(pk__in=ids, expires_at__lte=database_now()).delete()


def delete_swept_threads() -> None:
    """Hidden threads of requests without a thread are gone an hour after their run's end.

    One stays while a key points to its run, so that a resent message never runs twice (L10), and
    while a grant that was given there is live.

    Its files go first: rows that are left can be found again, files without a row could not.
    """
    with system_snapshot():
        old = _swept().select_related("tenant")[:AT_ONCE]
        threads = {thread.pk: (thread.tenant.slug, thread.suffix) for thread in old}
    if not threads:
        return
    for tenant_slug, suffix in threads.values():
        _delete_files(tenant_slug, suffix)
    with system_scope():
        ids = list(_swept().filter(pk__in=threads).values_list("pk", flat=True))
        Grant.objects.filter(gate__thread__in=ids).delete()
        Thread.objects.filter(pk__in=ids).delete()


def _swept() -> QuerySet[Thread]:
    now = database_now()
    limit = now - timedelta(seconds=EPHEMERAL_SECONDS)
    keys = IdempotencyKey.objects.filter(run__thread=OuterRef("pk"), expires_at__gt=now)
    grants = Grant.objects.filter(gate__thread=OuterRef("pk"), revoked_at=None, expires_at__gt=now)
    return (
        Thread.objects.filter(kind=ThreadKind.EPHEMERAL, updated_at__lt=limit)
        .exclude(runs__status__in=ACTIVE)
        .exclude(Exists(keys))
        .exclude(Exists(grants))
    )


def _delete_files(tenant_slug: str, suffix: str) -> None:
    """The thread's own workspace is gone; a directory that it shares with others stays."""
    root = workspace_root(settings.DATA_DIR, tenant_slug, WorkspaceScope.THREAD, suffix)
    try:
        remove_tree(root, base=settings.DATA_DIR)
    except OSError as error:
        log.warning("workspace_not_deleted", extra={"error": type(error).__name__})
