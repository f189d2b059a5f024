"""One answer of the fake provider, good or bad, as data that another process can send as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class ThinkingBlock:
    """Reasoning to stream. The fake issues a signature for a signed one and remembers it.

    `kind` is `text` or `encrypted` (opaque, no text to read); an encrypted one is always signed.
    """

    text: str = ""
    is_signed: bool = True
    kind: str = "text"


@dataclass(frozen=True)
class ScriptedToolCall:
    """A call. `arguments` is the raw text and may be bad JSON; `call_id` empty means: issue one."""

    name: str
    arguments: str = "{}"
    call_id: str = ""


@dataclass(frozen=True)
class Step:
    """What one request gets.

    Attributes:
        match: Only a request whose last user message holds this text takes the step.
        text: Visible text.
        thinking: Signed reasoning, sent as `reasoning_details`.
        reasoning: Plain reasoning, sent as `reasoning_content`.
        calls: Tool calls, all in one message.
        finish: Finish reason; empty means `tool_calls` or `stop`, as it fits. "none": never sent.
        with_usage: Whether the usage is reported where the request asks for it.
        usage: The report itself; None means one counted from the lengths.
        piece: Characters of one delta; 0 means that a value is not split.
        repeat_ids: Every fragment of a call repeats its id and its name.
        split_names: A tool's name arrives in pieces too.
        zero_index: Every call has the index 0, as some servers do; only the ids differ.
        empty: No delta at all.
        status: HTTP status; from 400 on the answer is an error.
        error_code: The error's `code`; `error_type` its `type`.
        in_stream_error: An error object inside a stream of status 200, after the text.
        retry_after: Header value: seconds or an HTTP date.
        delay_ms: Silence before the first byte of the response.
        hang: Send nothing, not even a status line, until the client leaves.
        hang_after: Send this many bytes of the stream, then nothing until the client leaves.
        drip_ms: Pause after every write of `drip_bytes` bytes.
        split_at: Byte offset of the stream where one write ends and the next begins.
        die_at: Byte offset of the stream where the connection is reset.
        end_at: Byte offset where the stream ends as if it were whole.
    """

    match: str = ""
    text: str = ""
    thinking: tuple[ThinkingBlock, ...] = ()
    reasoning: str = ""
    calls: tuple[ScriptedToolCall, ...] = ()
    finish: str = ""
    with_usage: bool = True
    usage: dict[str, Any] | None = None
    piece: int = 8
    repeat_ids: bool = False
    split_names: bool = False
    zero_index: bool = False
    empty: bool = False
    status: int = 200
    error_code: str = ""
    error_type: str = ""
    in_stream_error: dict[str, Any] | None = None
    retry_after: str = ""
    delay_ms: float = 0.0
    hang: bool = False
    hang_after: int | None = None
    drip_ms: float = 0.0
    drip_bytes: int = 1
    split_at: int | None = None
    die_at: int | None = None
    end_at: int | None = None

    @property
    def finish_reason(self) -> str | None:
        """The reason as it is sent."""
        if self.finish:
            return None if self.finish == "none" else self.finish
        return "tool_calls" if self.calls else "stop"

    def as_json(self) -> dict[str, Any]:
        """Return the step as POST /script takes it."""
        return asdict(self)


def call(name: str, arguments: str = "{}", call_id: str = "") -> ScriptedToolCall:
    """Return a call; short, as tests write many."""
    return ScriptedToolCall(name, arguments, call_id)


def step_from_json(value: dict[str, Any]) -> Step:
    """Return the step of a JSON object.

    Raises:
        ValueError: a key is not a field of a step.
    """
    unknown = set(value) - {item.name for item in fields(Step)}
    if unknown:
        raise ValueError(f"unknown step keys: {', '.join(sorted(unknown))}")
    values = dict(value)
    values["thinking"] = tuple(ThinkingBlock(**block) for block in value.get("thinking") or ())
    values["calls"] = tuple(ScriptedToolCall(**item) for item in value.get("calls") or ())
    return Step(**values)


@dataclass
class Answer:
    """A step with what the fake issued for it."""

    step: Step
    call_ids: list[str] = field(default_factory=list)
    details: list[dict[str, Any]] = field(default_factory=list)
