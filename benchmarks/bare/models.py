"""What one send writes, as plain tables: a thread, its branch, a run, events, an audit row."""

from __future__ import annotations

from django.db import models


class Thread(models.Model):
    name = models.CharField(max_length=200, unique=True)
    head_seq = models.BigIntegerField(default=0)
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.name


class Branch(models.Model):
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE)
    ranges = models.JSONField()

    def __str__(self) -> str:
        return str(self.pk)


class Run(models.Model):
    id = models.CharField(primary_key=True, max_length=32)
    token = models.CharField(max_length=64, unique=True)
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE)
    status = models.CharField(max_length=12, default="queued", db_index=True)

    def __str__(self) -> str:
        return self.id


class Event(models.Model):
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, db_index=False)
    seq = models.BigIntegerField()
    run = models.ForeignKey(Run, on_delete=models.CASCADE, db_index=False)
    kind = models.CharField(max_length=24)
    payload = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["thread", "seq"], name="once")]

    def __str__(self) -> str:
        return self.kind


class Audit(models.Model):
    act = models.CharField(max_length=48)
    facts = models.JSONField()
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.act
