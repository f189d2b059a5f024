"""What a deployment keeps beside its database: the data directory and the secret in it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from felix_web.env import EnvError

SHORTEST_SECRET = 32


@contextmanager
def data_folder(data_dir: Path) -> Iterator[None]:
    """What the system refuses inside is told as a mistake of FELIX_DATA_DIR.

    Raises:
        EnvError: the folder, or a file in it, cannot be made, read or written.
    """
    try:
        yield
    except OSError as problem:
        what = f"{problem.filename or data_dir}: {problem.strerror or 'it cannot be used'}"
        raise EnvError(
            f"FELIX_DATA_DIR: the folder {data_dir} cannot be used ({what}).",
            variable="FELIX_DATA_DIR",
        ) from None


def secret_key(given: str, data_dir: Path) -> str:
    """Return the secret that signs sessions: the one given, else the deployment's own.

    Raises:
        EnvError: what is given is shorter than 32 characters, or the data folder cannot be used.
    """
    if not given:
        return deployment_secret(data_dir)
    if len(given.strip()) < SHORTEST_SECRET:
        raise EnvError(
            f"FELIX_SECRET_KEY has {len(given.strip())} characters; "
            f"it must have at least {SHORTEST_SECRET} random ones.",
            variable="FELIX_SECRET_KEY",
        )
    return given


def deployment_secret(data_dir: Path) -> str:
    """Return the deployment's secret key; the first call makes it, readable by its owner alone.

    Raises:
        EnvError: the folder cannot be used, or the file in it holds no key.
    """
    path = data_dir / "secret_key"
    with data_folder(data_dir):
        try:
            secret = _read(path)
        except FileNotFoundError:
            _make(path)
            secret = _read(path)
    if len(secret) < SHORTEST_SECRET:
        raise EnvError(
            f"FELIX_DATA_DIR: the file {path} holds no key. Restore it; or delete it, and a new "
            "one is made and everybody signs in again.",
            variable="FELIX_DATA_DIR",
        )
    return secret


def _read(path: Path) -> str:
    return path.read_bytes().decode("ascii", "ignore").strip()


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".secret_key.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(50))
        os.link(draft, path)  # fails where another process was first: its secret is the one
    except FileExistsError:
        pass
    finally:
        draft.unlink()
