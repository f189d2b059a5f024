"""Threads that must not die."""

from __future__ import annotations

import threading

from felix_web.common.lasting import LastingThread, let_go, missing_threads, watch


class Clumsy(LastingThread):
    """Raises in its first turn."""

    def __init__(self) -> None:
        super().__init__("clumsy", pause_seconds=0)
        self.turns = 0
        self.is_well = threading.Event()

    def turn(self) -> None:
        self.turns += 1
        if self.turns == 1:
            raise ValueError("a row that nobody thought of")
        self.is_well.set()
        self.closing.wait(10)


def test_a_turn_that_raises_is_followed_by_the_next():
    thread = Clumsy()
    thread.start()

    assert thread.is_well.wait(10)
    assert "clumsy" not in missing_threads()

    thread.close()
    thread.join(10)
    assert not thread.is_alive()
    assert "clumsy" not in missing_threads()


def test_a_watched_thread_that_ended_by_itself_is_missed():
    thread = threading.Thread(target=lambda: None, name="gone")
    thread.start()
    watch(thread)
    thread.join(10)

    assert missing_threads() == ["gone"]
    let_go(thread)
    assert missing_threads() == []
