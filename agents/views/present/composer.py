"""What can be typed below the transcript now, and what cannot."""

from __future__ import annotations

from dataclasses import dataclass

from agents.views.present.state_block import StateBlock
from sessions.core.states import RunMode

RUNNING = "A run is going. Stop it, or wait until it ends."
WAITING = "A gate waits. Decide it or stop the run; then you can send."
READ_ONLY = "Viewers read. An operator of this tenant can send."


@dataclass(frozen=True, slots=True)
class Composer:
    """`busy` says why nothing can be sent, or is "". `text` is what was typed and not sent."""

    busy: str
    can_stop: bool
    text: str = ""
    error: str = ""
    mode: str = RunMode.DURABLE.value


def present_composer(
    state: StateBlock, *, may_send: bool, text: str = "", error: str = ""
) -> Composer:
    """Return the composer for a thread in this state."""
    if not may_send:
        return Composer(READ_ONLY, can_stop=False, text=text, error=error)
    busy = ""
    if state.is_active:
        busy = WAITING if state.gate_id else RUNNING
    return Composer(busy, can_stop=state.is_active, text=text, error=error)
