"""Identifiers: typed, prefixed, sortable by time, never guessable."""

from __future__ import annotations

import secrets
import time
from typing import NewType

RunId = NewType("RunId", str)
GateId = NewType("GateId", str)
CallId = NewType("CallId", str)
MessageId = NewType("MessageId", str)
OutputId = NewType("OutputId", str)

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def _base32(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, rest = divmod(number, 32)
        digits.append(ALPHABET[rest])
    return "".join(reversed(digits))


def new_id(prefix: str) -> str:
    """Return a fresh id such as `run_01jd3k8z0m5x7q2w9c4v6b1n`.

    45 bits of milliseconds, then 75 random bits.
    """
    return f"{prefix}_{_base32(int(time.time() * 1000), 9)}{_base32(secrets.randbits(75), 15)}"


def new_secret(prefix: str) -> str:
    """Return a fresh credential: `prefix_` and 256 random bits, safe in a URL and a header."""
    return f"{prefix}_{_base32(secrets.randbits(256), 52)}"
