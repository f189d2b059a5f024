"""Times and durations in the panel's words. Everything is UTC until a member can choose a zone."""

from __future__ import annotations

from datetime import datetime

from felix_web.common.clock import from_ms

SECOND_MS = 1000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b}"


def clock(at_ms: int, now_ms: int) -> str:
    """Return `14:02:07` for a moment of today, else `29 Nov 14:02`, with another year named."""
    moment, now = from_ms(at_ms), from_ms(now_ms)
    if moment.date() == now.date():
        return f"{moment:%H:%M:%S}"
    year = "" if moment.year == now.year else f" {moment.year}"
    return f"{_day(moment)}{year} {moment:%H:%M}"


def full(at_ms: int) -> str:
    """Return the whole moment with its zone, such as `Mon 30 Nov 2026, 14:02:07 UTC`."""
    moment = from_ms(at_ms)
    return f"{moment:%a} {_day(moment)} {moment.year}, {moment:%H:%M:%S} UTC"


def iso(at_ms: int) -> str:
    """Return the moment as `datetime` attributes take it."""
    return from_ms(at_ms).isoformat(timespec="seconds")


def duration(length_ms: int) -> str:
    """Return `<0.1 s`, `0.8 s`, `3:07` or `2 h 14 min`; what is negative counts as nothing."""
    length_ms = max(0, length_ms)
    if length_ms < SECOND_MS / 10:
        return "<0.1 s"
    if length_ms < MINUTE_MS:
        return f"{length_ms / SECOND_MS:.1f} s"
    if length_ms < HOUR_MS:
        minutes, rest = divmod(length_ms, MINUTE_MS)
        return f"{minutes}:{rest // SECOND_MS:02d}"
    hours, rest = divmod(length_ms, HOUR_MS)
    return f"{hours} h {rest // MINUTE_MS:02d} min"


def stopwatch(length_ms: int) -> str:
    """Return how long something has been going: `0:45`, `3:07`, `2 h 14 min`."""
    if length_ms >= HOUR_MS:
        return duration(length_ms)
    minutes, rest = divmod(max(0, length_ms), MINUTE_MS)
    return f"{minutes}:{rest // SECOND_MS:02d}"


def left(length_ms: int) -> str:
    """Return what is left of a deadline: `03:12`, `2 h 06 min`, or `6 d 04 h` above a day."""
    length_ms = max(0, length_ms)
    if length_ms < HOUR_MS:
        minutes, rest = divmod(length_ms, MINUTE_MS)
        return f"{minutes:02d}:{rest // SECOND_MS:02d}"
    if length_ms < DAY_MS:
        return duration(length_ms)
    days, rest = divmod(length_ms, DAY_MS)
    return f"{days} d {rest // HOUR_MS:02d} h"
