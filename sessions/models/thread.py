"""Threads and their branches."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from felix_web.tenancy.models import Membership, TenantOwned


class ThreadKind(models.TextChoices):
    """Who made the thread."""

    CHAT = "chat", "Chat"  # a caller named it, or the panel did
    EPHEMERAL = (
        "ephemeral",
        "Ephemeral",
    )  # hidden, made for one request, swept an hour after its run's end


class Thread(TenantOwned):
    """One conversation with one agent at a time: a tree of events.

    `suffix` is its id on the wire. `head_seq` is the next free place in the log, `leaf_seq` the
    newest event of the active branch (-1: none), `leaf_epoch` the number of rewinds and forks so
    far.
    """

    suffix = models.CharField(max_length=200)
    kind = models.CharField(max_length=12, choices=ThreadKind.choices, default=ThreadKind.CHAT)
    title = models.CharField(max_length=200, blank=True)
    manifest = models.CharField(max_length=128, blank=True)
    owner = models.ForeignKey(
        Membership, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    owner_identity = models.CharField(max_length=40, blank=True)
    head_seq = models.BigIntegerField(default=0)
    leaf_seq = models.BigIntegerField(default=-1)
    leaf_epoch = models.IntegerField(default=0)
    active_branch = models.IntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "suffix"], name="thread_id_once_per_tenant"),
            models.CheckConstraint(
                condition=Q(leaf_seq__lt=models.F("head_seq")), name="leaf_is_in_the_log"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "-updated_at", "-id"], name="threads_newest_first")
        ]

    def __str__(self) -> str:
        return self.suffix


class Branch(TenantOwned):
    """A line through a thread's tree, numbered per thread from 0.

    `ranges` reads it in order: [[branch number, first seq, last seq or null], ...]; the last one is
    its own and open.
    """

    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="branches")
    number = models.IntegerField()
    parent_number = models.IntegerField(null=True, blank=True)
    from_seq = models.BigIntegerField(default=-1)
    ranges = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["thread", "number"], name="branch_number_once_per_thread"
            )
        ]

    def __str__(self) -> str:
        return f"{self.thread_id}/{self.number}"
