"""The real commands as processes: started, killed, ended and waited for, each by its own pid."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
FELIX = Path(sys.executable).with_name("felix")
ROOT = Path(__file__).resolve().parents[2]
LOOK_SECONDS = 0.02


def wait_for(look: Callable[[], T], what: str, timeout: float = 20.0) -> T:
    """Return the first true value of `look`; it is asked again every 20 ms until the deadline."""
    deadline = time.monotonic() + timeout
    while not (seen := look()):
        assert time.monotonic() < deadline, f"{what}: not within {timeout} s"
        time.sleep(LOOK_SECONDS)
    return seen


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(**settings: str) -> dict[str, str]:
    """Return this process's environment with the given FELIX_ settings and no others."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("FELIX_", "DJANGO_"))}
    # A process test starts the commands a hundred times: compiled code makes that bearable.
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**kept, **{f"FELIX_{name}": value for name, value in settings.items()}}


class Command:
    """One process, leader of its own group. stdout and stderr go to one file."""

    def __init__(self, *arguments: str, env: dict[str, str], log: Path) -> None:
        self.arguments = arguments
        self._log = log
        self._began = log.stat().st_size if log.exists() else 0
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                list(arguments),
                env=env,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def output(self) -> str:
        """Everything this process has said so far."""
        with self._log.open("rb") as stream:
            stream.seek(self._began)
            return stream.read().decode(errors="replace")

    def kill(self) -> None:
        """The process and its children are gone, with no chance to say goodbye."""
        if self.is_alive:
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait(10)

    def interrupt(self, number: int = signal.SIGTERM) -> None:
        """Ask it to end."""
        os.kill(self.pid, number)

    def wait(self, timeout: float = 20.0) -> int:
        """Return its exit code, once it has ended by itself."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"{self.arguments} is still going after {timeout} s:\n{self.output[-2000:]}"
            ) from None


def run(*arguments: str, env: dict[str, str], timeout: float = 30.0) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of a command that ends by itself."""
    done = subprocess.run(
        list(arguments),
        env=env,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def felix(*arguments: str, env: dict[str, str]) -> str:
    """Return what a `felix` command that must succeed printed."""
    code, said, complaint = run(str(FELIX), *arguments, env=env)
    assert code == 0, f"felix {arguments}: {code}\n{complaint}"
    return said.strip()
