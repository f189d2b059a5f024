"""Any order of sends, claims, decisions, crashes, deadlines and rewinds leaves a sound log."""

from __future__ import annotations

import pytest
from django.db import connection
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.services.machine import Machine, Team

# On PostgreSQL the same machine runs 200 times with two connections: test_races_property.
EXAMPLES = {"sqlite": 200, "postgresql": 20}


@pytest.mark.slow
@pytest.mark.django_db
def test_whatever_happens_in_whatever_order_the_log_stays_sound():
    Machine.team = Team()
    examples = settings(
        max_examples=EXAMPLES[connection.vendor],
        stateful_step_count=50,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )

    run_state_machine_as_test(Machine, settings=examples)
