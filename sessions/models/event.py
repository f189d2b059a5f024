"""The log itself, and the full outputs that stand beside it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from felix_web.tenancy.models import TenantOwned
from sessions.core.events import PAYLOAD_VERSION, EventKind
from sessions.models.run import Run
from sessions.models.thread import Thread


class Event(TenantOwned):
    """One committed event. Never changed, never deleted but with its thread.

    `payload` may leave the server; `sealed` is for the provider adapter alone; `v` is the payload's
    version.
    """

    thread = models.ForeignKey(
        Thread, on_delete=models.CASCADE, db_index=False, related_name="events"
    )
    seq = models.BigIntegerField()
    branch = models.IntegerField()
    run = models.ForeignKey(
        Run, on_delete=models.SET_NULL, null=True, db_index=False, related_name="+"
    )
    origin = models.CharField(max_length=40, blank=True, help_text="The request that caused it.")
    kind = models.CharField(max_length=24)
    message_id = models.CharField(max_length=32, blank=True)
    call_id = models.CharField(max_length=256, blank=True)
    payload = models.JSONField(default=dict)
    sealed = models.JSONField(null=True)
    v = models.SmallIntegerField(default=PAYLOAD_VERSION)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["thread", "seq"], name="event_seq_once_per_thread"),
            models.UniqueConstraint(
                fields=["thread", "branch", "call_id"],
                condition=Q(kind=EventKind.TOOL_RESULT.value),
                name="one_result_per_call",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.thread_id}#{self.seq} {self.kind}"


class Output(TenantOwned):
    """The whole text of a tool's output that is longer than what the model was shown."""

    public_id = models.CharField(max_length=32, unique=True)
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="+")
    call_id = models.CharField(max_length=256)
    text = models.TextField()
    total_chars = models.IntegerField()
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.public_id
