"""Starts the peer scripts in their own environment; their packages never mix with ours."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = ROOT / ".venv-bench" / "bin" / "python"
INSTALL = "make bench installs the peers; or: pip install -e .[bench] in .venv-bench"
TIMEOUT_SECONDS = 600

PEERS: dict[str, tuple[str, ...]] = {
    "dbos": ("dbos_loop",),
    "dbos_wal": ("dbos_loop", "--wal"),
    "langgraph": ("langgraph_loop",),
    "langgraph_delta": ("langgraph_loop", "--delta"),
}


def are_installed() -> bool:
    """Return whether the peers can be imported where they are looked for."""
    if not PYTHON.exists():
        return False
    probe = [str(PYTHON), "-c", "import dbos, langgraph.checkpoint.sqlite"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def peer_figures(name: str, *, steps: int) -> dict[str, Any]:
    """Return what the peer's script says of a run of so many steps, on an empty database.

    Raises:
        RuntimeError: the script failed; the message ends with what it said.
    """
    script, *options = PEERS[name]
    with tempfile.TemporaryDirectory(prefix="felix-bench-") as directory:
        command = [str(PYTHON), "-m", f"benchmarks.peers.{script}", *options]
        command += ["--steps", str(steps), "--directory", directory]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={"PATH": os.environ.get("PATH", ""), "HOME": directory},
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )
    if done.returncode != 0:
        raise RuntimeError(f"{name} failed: {done.stderr.strip()[-500:]}")
    figures: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures
