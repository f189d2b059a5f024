"""An engine that is closing takes nothing more, and nobody waits for what it did not take."""

from __future__ import annotations

from agents.engine import Engine


def test_a_run_handed_to_a_closed_engine_is_left_to_others_and_nobody_waits_for_it() -> None:
    engine = Engine(publish=lambda *_: None)
    engine.start()
    engine.close()

    handed = engine.submit("run_late")

    assert handed.result(timeout=5) is None


def test_an_engine_may_be_told_to_close_twice() -> None:
    engine = Engine(publish=lambda *_: None)
    engine.start()

    engine.close()
    engine.close()

    assert engine.free_slots > 0
