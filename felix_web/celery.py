"""The Celery app. Messages are doorbells (L4): they carry a run's id and decide nothing."""

from __future__ import annotations

import os

from celery import Celery

from felix_web.embedded import broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "felix_web.settings")

broker.register()
app = Celery("felix")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["agents"])
