"""Runs: one turn each, driven by whoever holds the lease."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from felix_web.tenancy.models import ApiKey, Membership, TenantOwned
from sessions.core.states import ACTIVE_STATUSES, RunMode, RunStatus
from sessions.models.thread import Thread

ACTIVE = sorted(status.value for status in ACTIVE_STATUSES)


def _choices(members: type[RunStatus] | type[RunMode]) -> list[tuple[str, str]]:
    return [(member.value, member.value) for member in members]


class Run(TenantOwned):
    """One turn of one agent on one branch.

    `fence` rises with each claim and is the first condition of every driver's write. `lease_until`
    is the driver's while the run is running; a run that was stopped in the midst of a call keeps
    it until that call is closed. `not_before` holds a queued run back (a retry's wait).
    `expires_at` is the run's end. The starter is `member`, or the ownerless `key`; `scopes` are
    what it held then.
    """

    id = models.CharField(primary_key=True, max_length=32)
    resume_token = models.CharField(max_length=64, unique=True)
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="runs")
    branch = models.IntegerField()
    leaf_epoch = models.IntegerField()
    first_seq = models.BigIntegerField()
    parent_run = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )

    manifest = models.CharField(max_length=128)
    manifest_version = models.IntegerField()
    mode = models.CharField(max_length=12, choices=_choices(RunMode))
    is_attended = models.BooleanField(default=True)
    model = models.CharField(max_length=200, blank=True)
    is_scripted = models.BooleanField(default=False)

    member = models.ForeignKey(
        Membership, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    key = models.ForeignKey(
        ApiKey, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    starter = models.CharField(max_length=200, blank=True)
    scopes = models.JSONField(default=list)

    status = models.CharField(
        max_length=12, choices=_choices(RunStatus), default=RunStatus.QUEUED.value
    )
    reason = models.CharField(max_length=48, blank=True)
    fence = models.BigIntegerField(default=0)
    lease_owner = models.CharField(max_length=64, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(null=True, blank=True)
    fruitless_claims = models.SmallIntegerField(
        default=0, help_text="Claims in a row that committed nothing."
    )

    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField()
    active_ms = models.BigIntegerField(default=0, help_text="Time driven in earlier claims.")

    final = models.JSONField(null=True, blank=True)
    error = models.JSONField(null=True, blank=True)
    stop_reason = models.CharField(max_length=24, blank=True)

    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    cache_read_tokens = models.BigIntegerField(default=0)
    cache_write_tokens = models.BigIntegerField(default=0)
    cost_usd_micros = models.BigIntegerField(null=True, blank=True, default=0)
    is_usage_certain = models.BooleanField(default=True)
    model_ms = models.BigIntegerField(default=0)
    context_tokens = models.IntegerField(
        null=True, blank=True, help_text="Prompt of the newest request; None where not known."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["thread"],
                condition=Q(parent_run=None, status__in=ACTIVE),
                name="one_active_run_per_thread",
            ),
            models.CheckConstraint(
                condition=Q(status__in=[status.value for status in RunStatus]),
                name="run_status_known",
            ),
        ]
        indexes = [
            models.Index(
                fields=["status", "lease_until"],
                condition=Q(status__in=ACTIVE),
                name="runs_to_sweep",
            ),
            models.Index(
                fields=["lease_until"],
                condition=Q(lease_until__isnull=False),
                name="runs_with_a_lease",
            ),
            models.Index(fields=["thread", "-created_at"], name="runs_of_thread"),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.status}"
