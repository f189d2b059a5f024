"""Gates, the decisions on them, and the grants some decisions mint."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from approvals.core.gate import GateKind, GateStatus
from felix_web.tenancy.models import ApiKey, Membership, TenantOwned
from sessions.models import Run, Thread


class Gate(TenantOwned):
    """One thing a run waits for.

    The contract's parts stand as columns, their common digest in `digest`.

    `ordinal` counts the gates of a run: the one with the highest is a call's newest, whatever a
    clock says. `revision` rises with evidence, arguments, deadline and status; a card sends it
    back. `spent_at` is the moment the one execution it allowed began.
    """

    id = models.CharField(primary_key=True, max_length=32)
    kind = models.CharField(max_length=12, choices=[(kind.value, kind.value) for kind in GateKind])
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="gates", db_index=False)
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="gates")
    ordinal = models.IntegerField()
    call_id = models.CharField(max_length=256)
    tool = models.CharField(max_length=128)
    args = models.JSONField()
    args_digest = models.CharField(max_length=64)
    tool_digest = models.CharField(max_length=64)
    manifest = models.CharField(max_length=128)
    manifest_version = models.IntegerField()
    preimage = models.CharField(max_length=80, blank=True)
    principal = models.CharField(max_length=40, blank=True)
    digest = models.CharField(max_length=64)
    evidence = models.JSONField(default=dict)
    rule_id = models.CharField(max_length=128)
    reason = models.TextField(blank=True)

    reviewers = models.JSONField(default=list)
    quorum = models.SmallIntegerField(default=1)
    allow_self = models.BooleanField(default=True)
    extendable = models.BooleanField(default=True)
    one_shot = models.BooleanField(default=True)

    status = models.CharField(max_length=12, default=GateStatus.WAITING.value)
    revision = models.IntegerField(default=1)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True, blank=True)
    settled_by = models.CharField(max_length=200, blank=True)
    settled_because = models.CharField(max_length=48, blank=True)
    note = models.TextField(blank=True)
    edited_args = models.JSONField(null=True, blank=True)
    spent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "ordinal"], name="gate_ordinal_once_per_run"),
            models.UniqueConstraint(
                fields=["run", "call_id"],
                condition=Q(status=GateStatus.WAITING.value),
                name="one_waiting_gate_per_call",
            ),
            models.CheckConstraint(
                condition=Q(status__in=[status.value for status in GateStatus]),
                name="gate_status_known",
            ),
            models.CheckConstraint(
                condition=Q(quorum__gte=1) & Q(quorum__lte=5), name="gate_quorum_1_to_5"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "-created_at", "-id"], name="gates_newest_first"),
            models.Index(
                fields=["expires_at"],
                condition=Q(status=GateStatus.WAITING.value),
                name="gates_to_expire",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.tool} {self.status}"


class Decision(TenantOwned):
    """What one member, or one key of nobody, said of a gate. Never changed."""

    gate = models.ForeignKey(Gate, on_delete=models.CASCADE, related_name="decisions")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    key = models.ForeignKey(ApiKey, on_delete=models.PROTECT, null=True, related_name="+")
    identity = models.CharField(max_length=40)
    name = models.CharField(max_length=200)
    via = models.CharField(max_length=12)
    decision = models.CharField(max_length=8)
    note = models.TextField(blank=True)
    edited_args = models.JSONField(null=True, blank=True)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["gate", "identity"], name="one_decision_per_member")
        ]

    def __str__(self) -> str:
        return f"{self.gate_id} {self.decision}"


class Grant(TenantOwned):
    """A standing permission for identical calls, minted where a rule is not `one_shot`.

    It is bound to what its gate was, but for run and call: under the same rule of the same version,
    and only while `preimage` is what the call would change. `thread` is where it was given; where
    threads have workspaces of their own it holds there alone.
    """

    id = models.CharField(primary_key=True, max_length=32)
    gate = models.ForeignKey(Gate, on_delete=models.PROTECT, related_name="+")
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="+")
    rule_id = models.CharField(max_length=128)
    manifest = models.CharField(max_length=128)
    manifest_version = models.IntegerField()
    tool = models.CharField(max_length=128)
    args_digest = models.CharField(max_length=64)
    tool_digest = models.CharField(max_length=64)
    preimage = models.CharField(max_length=80, blank=True)
    principal = models.CharField(max_length=40, blank=True)
    granted_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["tenant", "manifest", "manifest_version", "expires_at"],
                name="grants_for_run",
            ),
            models.Index(fields=["tenant", "-created_at", "-id"], name="grants_newest_first"),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.tool}"
