"""Times on the wire and in the log: epoch milliseconds, UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def epoch_ms(moment: datetime) -> int:
    """Return the moment as whole milliseconds since 1970, UTC.

    Raises:
        ValueError: the moment is naive; a time without a zone is refused, never guessed.
    """
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return int(moment.timestamp() * 1000)


def optional_ms(moment: datetime | None) -> int | None:
    """Return `epoch_ms`, or None where there is no moment."""
    return None if moment is None else epoch_ms(moment)


def from_ms(milliseconds: int) -> datetime:
    """Return the aware UTC moment of `epoch_ms`."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
