"""Many threads at once, each with a database connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection

from felix_web.common.errors import FelixError


def together(acts: Sequence[Callable[[], Any]]) -> list[Any]:
    """Return what each act returned, or the error it raised; all of them begin at the same
    moment."""
    begin = threading.Barrier(len(acts))

    def one(act: Callable[[], Any]) -> Any:
        try:
            begin.wait(timeout=10)
            return act()
        except FelixError as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(one, acts))


def errors(outcomes: Sequence[Any]) -> list[str]:
    """Return the codes of those that were refused."""
    return sorted(one.code for one in outcomes if isinstance(one, FelixError))
