"""What a deployment keeps beside its database: the data directory and the secret in it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def deployment_secret(data_dir: Path) -> str:
    """Return the deployment's secret key; the first call makes it, readable by its owner alone."""
    path = data_dir / "secret_key"
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        pass
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = data_dir / f".secret_key.{os.getpid()}.{secrets.token_hex(4)}"
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(50))
    try:
        os.link(draft, path)  # fails where another process was first: its secret is the one
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_text(encoding="ascii").strip()
