"""What a tool is: its contract with the model, the controls, the reviewer and the recovery."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any, BinaryIO, Protocol

from pydantic import BaseModel, ConfigDict

from agents.core.providers.base import ToolSpec
from felix_web.common.digests import digest
from sessions.core.states import CallStatus

INTERRUPTED = (
    "[error/interrupted] The worker was lost while this call ran: whether it took effect is"
    " unknown. It was not run again. Check before you repeat it."
)
"""What the model reads of a call whose effect nobody knows (L3)."""

CANCELLED = "[error/cancelled] The run ended before this call ran. It was not run."
"""What the model reads of a call that a stopped or ended run never started."""


class ToolArgs(BaseModel):
    """Arguments of a tool: closed and strict, so that what a reviewer reads is what runs."""

    model_config = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call.

    `text` is the whole output; the window that the model sees is cut elsewhere (window.py).

    A failure's text starts with `[error/<code>] `; codes: invalid_arguments, not_found,
    permission_denied, evidence_changed, transport_unavailable, timeout, user_aborted, interrupted,
    limit, no_space, internal (spec/manifest.md 4.1).
    """

    text: str
    status: CallStatus = CallStatus.DONE

    @classmethod
    def failed(cls, code: str, message: str) -> Outcome:
        """Return a failure the model can read."""
        return cls(f"[error/{code}] {message}", CallStatus.FAILED)


class ToolFailed(Exception):
    """A tool cannot do what was asked. The dispatcher makes it `Outcome.failed(code, message)`."""

    code = "tool_failed"

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One row of a diff.

    `sign` is ' ', '+' or '-'; a line number is None on the side where the line is not.
    """

    sign: str
    old: int | None
    new: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a reviewer sees: exactly what would run, and for a write the change it makes.

    `title` says what the body is ("What will be written"). `target` is the one thing acted on.
    `added`, `removed` and `total` count lines of the diff and of the file as it would be.
    """

    title: str
    target: str
    diff: tuple[DiffLine, ...] = ()
    text: str = ""
    added: int = 0
    removed: int = 0
    total: int = 0
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the evidence as the `gate` frame carries it."""
        return {
            "title": self.title,
            "target": self.target,
            "diff": [[line.sign, line.old, line.new, line.text] for line in self.diff],
            "text": self.text,
            "added": self.added,
            "removed": self.removed,
            "total": self.total,
            "note": self.note,
        }


class EntryKind(StrEnum):
    """What a name in a workspace is; only files are read or written, only directories entered."""

    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"
    SPECIAL = "special"


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a workspace. `path` is relative to its root; `size_bytes` is 0 but for a file."""

    path: str
    kind: EntryKind
    size_bytes: int = 0


class Workspace(Protocol):
    """The files of one scope. `DirectoryWorkspace` is the implementation on a local directory.

    Every `path` is relative to the root, with `/` between names. Every method raises ToolFailed:
    `invalid_arguments` (the path is absolute, leaves the root, goes through a symlink, or is of the
    wrong kind), `not_found`, `permission_denied`, `no_space`, or `transport_unavailable` (the root
    itself cannot be reached).
    """

    def find(self, path: str) -> Entry | None:
        """Return what is at the path, without following a symlink; None where there is nothing."""

    def entries(
        self, path: str, *, limit: int, check: Callable[[], None]
    ) -> tuple[list[Entry], int]:
        """Return the first entries of a directory, sorted without regard to case, and their number.

        Args:
            limit: How many entries to return at most; the number counts all of them.
            check: Called now and then; what it raises ends the listing.
        """

    def files(
        self, path: str, *, enter: Callable[[str], bool], missed: Callable[[str], None]
    ) -> Iterator[Entry]:
        """Yield the regular files below a directory, in the order of their paths' segments.

        Args:
            enter: Answers whether a directory (its path) is gone into. Symlinks never are.
            missed: Told the path of each directory that cannot be read or is too deep.
        """

    def open(self, path: str) -> AbstractContextManager[BinaryIO]:
        """Open a regular file for reading bytes."""

    def read(self, path: str, *, max_bytes: int) -> bytes | None:
        """Return the bytes of a file; None where there is nothing.

        Raises:
            ToolFailed: `limit`, the file is larger than `max_bytes`; and as said above.
        """

    def replace(self, path: str, data: bytes) -> None:
        """Make the file hold exactly these bytes, in one step that a crash cannot halve.

        Directories on the way are made. An existing file's mode is kept. Hold `lock` meanwhile.
        """

    def lock(self, path: str, *, check: Callable[[], None]) -> AbstractContextManager[None]:
        """Hold the path for one writer among all threads and processes of this data directory.

        Args:
            check: Called while waiting; what it raises ends the wait.
        """


class OutputReader(Protocol):
    """Reads a stored output of this thread."""

    def __call__(self, output_id: str, *, offset: int, limit: int) -> tuple[str, int] | None:
        """Return (text window, total characters), or None where this thread has no such output."""


@dataclass(slots=True)
class ToolContext:
    """What a running call may use.

    `deadline` is of `time.monotonic()`; `cancelled` is set when the run is stopped.
    `preimage` is what the reviewer saw (see `Tool.preimage`): a tool that writes compares it once
    more under its path lock and fails with `evidence_changed`, without effect, where it differs.
    None means nobody was asked.
    """

    workspace: Workspace | None
    call_id: str
    deadline: float
    read_output: OutputReader
    preimage: str | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Return while the call may go on.

        Raises:
            ToolFailed: it was stopped (`user_aborted`) or its time is over (`timeout`).
        """
        if self.cancelled.is_set():
            raise ToolFailed("user_aborted", "The run was stopped.")
        if time.monotonic() > self.deadline:
            raise ToolFailed("timeout", "The call ran out of time.")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. Bodies are plain functions, run on a thread of their own, never on the event loop.

    Attributes:
        args: The pydantic model of its arguments; its JSON Schema is what the model sees.
        read_only: It changes nothing anywhere. Implies `replay_safe`.
        replay_safe: Running it again after a crash is harmless (L3). Default: no.
        run: Does it. Raises ToolFailed, or returns an Outcome or the text of a success.
        evidence: Computes what a reviewer sees; None means the arguments are the evidence.
        preimage: Returns a digest of what the call would change, as it is now ("absent" for a file
            that is not there); None means it has no pre-image.
        target: Returns the one thing the call acts on (a path), shown in rows and compared between
            calls of one message: two calls with one target depend on each other. Never raises.
        timeout_seconds: Upper bound of one call.
        window_chars: How much of its output the model sees at once (the `limit` of window.py).
    """

    name: str
    description: str
    args: type[ToolArgs]
    run: Callable[[Any, ToolContext], Outcome | str]
    read_only: bool = False
    replay_safe: bool = False
    evidence: Callable[[Any, ToolContext], Evidence] | None = None
    preimage: Callable[[Any, ToolContext], str] | None = None
    target: Callable[[Any], str] = lambda args: ""
    timeout_seconds: float = 60.0
    window_chars: int = 2000

    @property
    def spec(self) -> ToolSpec:
        """The tool as a model is told of it."""
        return ToolSpec(self.name, self.description, self.args.model_json_schema())

    @property
    def is_replay_safe(self) -> bool:
        """True where a started call may be run again."""
        return self.read_only or self.replay_safe

    @property
    def digest(self) -> str:
        """Digest of the definition: a change of it makes an approval ask again (L7)."""
        spec = self.spec
        facts = [spec.name, spec.description, spec.parameters, self.read_only, self.is_replay_safe]
        return digest(facts)


@cache
def definition_digest(tool: Tool) -> str:
    """Return `tool.digest`; its JSON Schema is not built anew for each call."""
    return tool.digest
