"""Making threads and branches."""

from __future__ import annotations

import re

from felix_web.common.ids import new_id
from felix_web.tenancy.principal import Principal
from sessions.errors import InvalidThreadId, UnknownEvent
from sessions.models import Branch, Event, Thread, ThreadKind

THREAD_ID = re.compile(r"\A[^\s:#/\\\x00-\x1f\x7f]{1,128}\Z")
TITLE_CHARS = 120
RESERVED = frozenset({".", "..", "new"})  # "new" is a page of the panel


def check_thread_id(suffix: str) -> str:
    """Return the id.

    Raises:
        InvalidThreadId: it is empty, too long, or has a colon, hash, slash, space or control
            character.
    """
    if not THREAD_ID.match(suffix) or suffix in RESERVED:
        raise InvalidThreadId()
    return suffix


def title_of(text: str) -> str:
    """Return the first line of a message that says something, as a thread's first title."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    line = " ".join(first.split())
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1].rstrip() + "…"


def locked_thread(
    *, principal: Principal, suffix: str | None, manifest: str, title: str
) -> tuple[Thread, bool]:
    """Return the caller's thread with its row locked, and whether it was made here.

    Args:
        suffix: Its id; None makes a hidden thread.

    Locks: the thread's row.
    """
    kind = ThreadKind.CHAT if suffix else ThreadKind.EPHEMERAL
    thread, is_new = Thread.objects.select_for_update().get_or_create(
        tenant_id=principal.tenant_id,
        suffix=suffix or new_id("eph").replace("_", "."),
        defaults={
            "kind": kind,
            "title": title_of(title),
            "manifest": manifest,
            "owner_id": principal.member_id,
            "owner_identity": principal.identity,
        },
    )
    if is_new:
        Branch.objects.create(
            tenant_id=principal.tenant_id, thread=thread, number=0, ranges=[[0, 0, None]]
        )
    return thread, is_new


def open_branch(*, thread: Thread, after_seq: int) -> Branch:
    """The thread goes on from just behind an event of its active branch.

    A new branch, a higher epoch (L9).

    Args:
        thread: Its row is locked by the caller.
        after_seq: The last event kept; -1 keeps none.

    Raises:
        UnknownEvent: the active branch has no such event; nothing was written.
    """
    parent = Branch.objects.get(thread=thread, number=thread.active_branch)
    kept = kept_ranges(parent.ranges, after_seq)
    if after_seq != -1 and not _holds(thread, kept, after_seq):
        raise UnknownEvent()
    newest = Branch.objects.filter(thread=thread).order_by("-number").first()
    number = (newest.number if newest else 0) + 1
    branch = Branch.objects.create(
        tenant_id=thread.tenant_id,
        thread=thread,
        number=number,
        parent_number=parent.number,
        from_seq=after_seq,
        ranges=[*kept, [number, thread.head_seq, None]],
    )
    Thread.objects.filter(pk=thread.pk).update(
        active_branch=number, leaf_seq=after_seq, leaf_epoch=thread.leaf_epoch + 1
    )
    thread.refresh_from_db(fields=["active_branch", "leaf_seq", "leaf_epoch"])
    return branch


def kept_ranges(ranges: list[list[int | None]], after_seq: int) -> list[list[int | None]]:
    """Return the ranges of a branch cut behind `after_seq`."""
    kept: list[list[int | None]] = []
    for number, low, high in ranges:
        assert low is not None
        if low > after_seq:
            break
        kept.append([number, low, after_seq if high is None else min(high, after_seq)])
    return kept


def _holds(thread: Thread, ranges: list[list[int | None]], seq: int) -> bool:
    if not ranges or ranges[-1][2] != seq:
        return False
    return Event.objects.filter(thread=thread, seq=seq, branch=ranges[-1][0] or 0).exists()
