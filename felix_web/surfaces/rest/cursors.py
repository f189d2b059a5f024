"""Cursors of lists: the place of a page's last row, `microseconds:id`, so that rows of one moment
stand on one page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, TypeVar

from felix_web.common.errors import InvalidInput

T = TypeVar("T")

CURSOR = re.compile(r"\A(\d{1,17}):([0-9a-z_]{1,32})\Z", re.ASCII)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class InvalidCursor(InvalidInput):
    """The cursor is not one that a list answered."""

    code: ClassVar[str] = "invalid_cursor"
    title = "Invalid cursor"
    hint = "Send next_cursor of the page before as it stands, or none for the first page."


def cursor_of(moment: datetime, row_id: int | str) -> str:
    """Return the cursor of a row."""
    return f"{(moment - EPOCH) // timedelta(microseconds=1)}:{row_id}"


def place_of(cursor: str | None) -> tuple[datetime, str] | None:
    """Return (moment, id) of the row a cursor stands for; None for no cursor: the first page.

    Raises:
        InvalidCursor: it is not a cursor.
    """
    if not cursor:
        return None
    found = CURSOR.match(cursor)
    if found is None:
        raise InvalidCursor()
    return EPOCH + timedelta(microseconds=int(found[1])), found[2]


def numbered_place_of(cursor: str | None) -> tuple[datetime, int] | None:
    """Return `place_of` for rows whose id is a number.

    Raises:
        InvalidCursor: it is not a cursor of such rows.
    """
    place = place_of(cursor)
    if place is None:
        return None
    if not place[1].isdigit() or len(place[1]) > 18:
        raise InvalidCursor()
    return place[0], int(place[1])


def page_of(items: Sequence[T], limit: int) -> tuple[Sequence[T], bool]:
    """Return the page's rows and whether there are more; `items` may hold one more than the
    limit.
    """
    return items[:limit], len(items) > limit


def listed(items: list[dict[str, Any]], next_cursor: str | None) -> dict[str, Any]:
    """Return the answer of every list."""
    return {"items": items, "next_cursor": next_cursor}
