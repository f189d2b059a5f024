"""Digests of values: the same value gives the same digest in every process and version."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, UTF-8 unescaped.

    Raises:
        ValueError: the value holds NaN or an infinity, which JSON cannot say.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest_bytes(data: bytes) -> str:
    """Return the SHA-256 of the bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON, in hex."""
    return digest_bytes(canonical_json(value).encode("utf-8", "surrogatepass"))
