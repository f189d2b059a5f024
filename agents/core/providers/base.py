"""The provider protocol.

What the engine asks of a model, and what it gets back, whoever answers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Protocol

from felix_web.common.errors import FelixError
from sessions.core.states import StopReason


@dataclass(frozen=True, slots=True)
class Thinking:
    """One block of reasoning.

    `signature` and `data` are the provider's own and go back unchanged, or not at all.

    `origin` names provider, model and account that issued it: a block is replayed to the same
    origin only (L12).
    """

    text: str
    signature: str = ""
    origin: str = ""
    data: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it.

    `args_error` is set, and `args` empty, where its arguments are not a JSON object.
    """

    call_id: str
    name: str
    args: dict[str, Any]
    args_error: str = ""


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What a person said."""

    content: str


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    """One answer of a model: reasoning, text and calls, in this order."""

    content: str
    thinking: tuple[Thinking, ...] = ()
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolTurn:
    """The result of one call, as the model reads it."""

    call_id: str
    name: str
    content: str
    is_error: bool = False


Turn = UserTurn | AssistantTurn | ToolTurn


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as it is described to a model. `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call.

    `certain` is False where the provider reported none or only a part.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    certain: bool = True


class RequestClass(StrEnum):
    """What a request is for; only `turn` carries the conversation's cache identity (L11)."""

    TURN = "turn"


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request.

    `messages` is the provider's own JSON as `render` made it, the system prompt first.

    `deadline_seconds` bounds the whole answer by the wall clock, a dripping one too, beside the
    profile's own bound; None means that one alone. `cache_key` is the conversation's prompt-cache
    identity, empty for side requests.
    """

    messages: list[dict[str, Any]]
    tools: tuple[ToolSpec, ...] = ()
    temperature: float | None = None
    max_tokens: int | None = None
    request_class: RequestClass = RequestClass.TURN
    deadline_seconds: float | None = None
    cache_key: str = ""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More visible text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More readable reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class Completed:
    """The answer is whole. Exactly one, and the last item of a stream that did not raise."""

    turn: AssistantTurn
    stop_reason: StopReason
    usage: Usage = field(default_factory=lambda: Usage(certain=False))


StreamItem = TextDelta | ThinkingDelta | Completed


class ProviderError(FelixError):
    """The model could not be reached or refused the request.

    `retryable` is True only where the same request may succeed later; `retry_after_seconds` is the
    provider's own wish or None; `status` is the HTTP status or None where there was no answer. The
    message names the kind of failure and never quotes the provider's text; `detail` (for the log,
    redacted) may. `is_usage_lost` is True where the model may have worked on the request and
    nobody will say how much.
    """

    code: ClassVar[str] = "provider_error"
    title = "The model did not answer"
    hint = "Check the model profile, then send the turn again."

    def __init__(
        self,
        message: str = "",
        *,
        retryable: bool = False,
        retry_after_seconds: float | None = None,
        status: int | None = None,
        detail: str = "",
        is_usage_lost: bool = False,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after_seconds = retry_after_seconds
        self.status = status
        self.detail = detail
        self.is_usage_lost = is_usage_lost


class Provider(Protocol):
    """A model behind one adapter. One object per profile and process.

    Its methods may run at the same time.
    """

    @property
    def origin(self) -> str:
        """Provider, model and account, in one string that changes when any of them does."""

    @property
    def is_scripted(self) -> bool:
        """True for the demo model, which every surface names as scripted."""

    def render(self, turn: Turn) -> list[dict[str, Any]]:
        """Return the provider's JSON for one turn. Pure: the same turn gives the same bytes.

        Unsigned reasoning and reasoning of another origin is left out.
        """

    def render_system(self, text: str) -> list[dict[str, Any]]:
        """Return the provider's JSON for the system prompt; nothing for an empty one."""

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamItem]:
        """Answer one request, once: no retry inside.

        Cancelling the consuming task closes the connection within a second.

        Raises:
            ProviderError: as described there, before or after deltas; what came before it is not an
                answer.
        """
