"""Any order of sends, claims, decisions, crashes, deadlines and rewinds leaves a sound log."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.services.machine import Machine, Team

EXAMPLES = settings(
    max_examples=200,
    stateful_step_count=50,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.slow
@pytest.mark.django_db
def test_whatever_happens_in_whatever_order_the_log_stays_sound():
    Machine.team = Team()

    run_state_machine_as_test(Machine, settings=EXAMPLES)
