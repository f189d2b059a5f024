"""Slows down guessing of passwords. Counts live in the cache: shared by Redis, else per process.

A name is locked for the address that failed; one that many addresses try is locked for all.
Known and unknown names are treated alike, so a lock says nothing about whether a name exists.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass

from django.core.cache import cache


@dataclass(frozen=True, slots=True)
class Limit:
    """`failures` within `window_seconds` lock for `lock_seconds`."""

    failures: int
    window_seconds: int
    lock_seconds: int


FOR_ADDRESS = Limit(failures=5, window_seconds=900, lock_seconds=300)
FOR_NAME = Limit(failures=50, window_seconds=3600, lock_seconds=900)


def _keys(username: str, address: str) -> tuple[tuple[str, Limit], ...]:
    name = username.strip().casefold()

    def key(*parts: str) -> str:
        digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
        return f"sign-in:{digest}"

    return (key("both", name, address), FOR_ADDRESS), (key("name", name), FOR_NAME)


def locked_until(*, username: str, address: str) -> float | None:
    """Return when the lock ends, in seconds since 1970, or None where signing in may be tried."""
    ends = [cache.get(f"{key}:until") for key, _ in _keys(username, address)]
    later = [end for end in ends if end is not None and end > time.time()]
    return max(later, default=None)


def record_failure(*, username: str, address: str) -> None:
    """The failure counts; the one that reaches a limit locks."""
    for key, limit in _keys(username, address):
        cache.add(key, 0, limit.window_seconds)
        try:
            failures = cache.incr(key)
        except ValueError:  # it lapsed between the two calls
            cache.set(key, 1, limit.window_seconds)
            failures = 1
        if failures >= limit.failures:
            cache.set(f"{key}:until", time.time() + limit.lock_seconds, limit.lock_seconds)
            cache.delete(key)


def forget_failures(*, username: str, address: str) -> None:
    """The address starts anew with this name, after a sign-in that went well."""
    key, _ = _keys(username, address)[0]
    cache.delete(key)
