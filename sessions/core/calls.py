"""Calls as the log tells them: what a model asked for, and how each ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sessions.core.states import CallStatus


@dataclass(frozen=True, slots=True)
class Call:
    """One call an assistant message proposed. `args` is a JSON object.

    `args_error` says why it is not one.
    """

    call_id: str
    tool: str
    args: dict[str, Any]
    message_id: str
    args_error: str = ""


@dataclass(frozen=True, slots=True)
class CallResult:
    """How a call ended. `content` is what the model reads.

    A longer full text stands in the output `output_id`.
    """

    call_id: str
    status: CallStatus
    content: str
    output_id: str = ""
