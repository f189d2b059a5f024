"""What /ready says of this process's own threads."""

from __future__ import annotations

import threading

import pytest
from django.test import Client

from felix_web.common.lasting import let_go, watch

pytestmark = pytest.mark.django_db


def test_a_thread_that_ended_and_never_should_is_named():
    thread = threading.Thread(target=lambda: None, name="felix-sweep")
    thread.start()
    thread.join(10)
    watch(thread)

    answer = Client().get("/ready")

    let_go(thread)
    assert answer.json()["status"] == "degraded"
    assert answer.json()["parts"]["threads"] == "unavailable: felix-sweep"
    assert Client().get("/ready").json()["parts"]["threads"] == "ok"
