"""A real workspace in a temporary directory, and calls the way the driver makes them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from agents.core.tools.base import Evidence, Outcome, ToolContext
from agents.core.tools.dispatch import execute, present, validate
from agents.core.tools.registry import builtin_tools
from agents.core.tools.workspace import DirectoryWorkspace


@dataclass
class Bench:
    """One workspace below a data directory, with its outputs."""

    data_dir: Path
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return self.data_dir / "ws"

    @property
    def workspace(self) -> DirectoryWorkspace:
        return DirectoryWorkspace(self.root, base=self.data_dir)

    def context(self, *, preimage: str | None = None, seconds: float = 60) -> ToolContext:
        return ToolContext(
            workspace=self.workspace,
            call_id="call_1",
            deadline=time.monotonic() + seconds,
            read_output=self._read_output,
            preimage=preimage,
        )

    def _read_output(self, output_id: str, *, offset: int, limit: int) -> tuple[str, int] | None:
        text = self.outputs.get(output_id)
        return None if text is None else (text[offset : offset + limit], len(text))

    def call(self, tool: str, ctx: ToolContext | None = None, /, **args: object) -> Outcome:
        chosen = builtin_tools()[tool]
        return execute(chosen, validate(chosen, args), ctx or self.context())

    def text(self, tool: str, **args: object) -> str:
        return self.call(tool, **args).text

    def evidence(self, tool: str, **args: object) -> Evidence:
        chosen = builtin_tools()[tool]
        evidence = present(chosen, validate(chosen, args), self.context()).evidence
        assert evidence is not None
        return evidence

    def preimage(self, tool: str, **args: object) -> str | None:
        chosen = builtin_tools()[tool]
        return present(chosen, validate(chosen, args), self.context()).preimage

    def put(self, path: str, content: bytes | str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def snapshot(self) -> dict[str, tuple[int, bytes]]:
        """Return mode and bytes of every file there is, temporary ones too."""
        files = (path for path in self.root.rglob("*") if path.is_file())
        return {str(path): (path.stat().st_mode, path.read_bytes()) for path in files}
