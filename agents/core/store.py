"""The Store port: the transactions a driver may make (decisions 3.4). There is no generic append.

Each method is one transaction whose first statement holds the run's row under the driver's fence.
Each raises `LeaseLost` where the fence has moved or the run was stopped: the driver ends at once
and writes nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from agents.core.loop import Finish
from agents.core.providers.base import Usage
from agents.core.view import RunFacts
from approvals.core.gate import GateDraft, GateView
from felix_web.common.errors import FelixError
from sessions.core.events import Event, NewEvent
from sessions.core.states import CallStatus


class LeaseLost(FelixError):
    """Another driver holds the run, or it was stopped."""

    code: ClassVar[str] = "lease_lost"
    title = "Lease lost"


class GateSpent(FelixError):
    """The approval was used already."""

    code: ClassVar[str] = "gate_spent"
    title = "Approval used"


@dataclass(frozen=True, slots=True)
class GrantView:
    """A standing permission for identical calls, live when it was read.

    It holds under `rule_id`, where a call would change what `preimage` is the digest of, and, where
    it is set, for `principal` only. `gate_id` and `granted_by` tell where it comes from.
    """

    grant_id: str
    gate_id: str
    rule_id: str
    tool: str
    args_digest: str
    tool_digest: str
    preimage: str
    principal: str
    granted_by: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """A claimed run, as it is stored: the whole branch once per claim.

    Then the driver grows it in memory.
    """

    facts: RunFacts
    events: tuple[Event, ...]
    gates: tuple[GateView, ...]
    grants: tuple[GrantView, ...]


@dataclass(frozen=True, slots=True)
class Metered:
    """One answered model request. `cost_usd_micros` None means the price is not known."""

    model: str
    request_class: str
    prefix_digest: str
    usage: Usage
    cost_usd_micros: int | None
    took_ms: int


@dataclass(frozen=True, slots=True)
class CallClosed:
    """The end of one call. `content` is the model's window.

    `full_text` is kept as an output where it is longer.

    `gate` is how the call's gate ended, `grant` the standing permission it ran under, as the log
    keeps them.
    """

    call_id: str
    tool: str
    status: CallStatus
    content: str
    full_text: str = ""
    output_id: str = ""
    started_ms: int | None = None
    gate: dict[str, str] | None = None
    grant: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """A call about to run, with what allowed it: a gate to spend, a grant, or neither."""

    event: NewEvent
    gate_id: str = ""
    grant_id: str = ""


class Store(Protocol):
    """The log of one claimed run."""

    async def load(self) -> Loaded:
        """Return the run as it is stored now."""

    async def answer(
        self, message: NewEvent, metered: Metered, starts: Sequence[Start] = ()
    ) -> list[Event]:
        """The model's answer and its usage are in the log, with the starts that may ride along."""

    async def ask(self, drafts: Sequence[GateDraft]) -> list[GateView]:
        """Every draft's gate is open; returns all gates of the run, oldest first.

        Idempotent per waiting call.
        """

    async def gates(self) -> list[GateView]:
        """Return all gates of the run, oldest first, each as the database's clock judges it."""

    async def park(self) -> bool:
        """The run waits and its lease is free.

        Returns False, and changes nothing, where no gate waits any more, or where one was withdrawn
        whose call must be asked about again.
        """

    async def start(self, start: Start) -> list[Event]:
        """The call's start is in the log and its gate is spent: from here on it may have an effect.

        Raises:
            GateSpent: the gate was used, revoked or withdrawn meanwhile; the caller must not run
                the call.
        """

    async def result(
        self, closed: Sequence[CallClosed], starts: Sequence[Start] = ()
    ) -> list[Event]:
        """The results are in the log.

        Accepted on a stopped run too, under the same fence (decisions 3.5).
        """

    def bring_late(self, closed: Sequence[CallClosed]) -> None:
        """The results of calls that outlasted their driver are recorded soon, with nobody waiting.

        As `result` takes them: in the log while such a call of a stopped run is open, else in the
        audit alone.
        """

    async def finish(self, end: Finish) -> None:
        """The run is over.

        Calls still open are closed as cancelled, waiting gates withdrawn, the lease is free.
        """
