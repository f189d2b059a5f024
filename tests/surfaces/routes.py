"""Every address of the web process, from Django's own resolver: one that is added later is found
here by itself."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from django.urls import URLPattern, get_resolver

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


def routes(resolver: Any = None, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (method, route) of everything there is, a route as Django writes it:
    `api/approvals/<gate_id>`.

    A page of the panel does not say which methods it takes; GET and POST are both yielded.
    """
    for entry in (resolver or get_resolver()).url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLPattern):
            yield from ((method, route) for method in _methods(entry.callback))
        else:
            yield from routes(entry, route)


def _methods(view: Callable[..., Any]) -> list[str]:
    path_view = inspect.getclosurevars(inspect.unwrap(view)).nonlocals.get("self")
    operations = getattr(path_view, "operations", None)
    if operations is None:
        return ["GET", "POST"]
    return sorted({method for operation in operations for method in operation.methods})


def parameters(route: str) -> list[str]:
    """Return the names of a route's parameters."""
    return PARAMETER.findall(route)


def filled(route: str, values: dict[str, str]) -> str:
    """Return the address of a route with these parameters.

    Raises:
        KeyError: the route has a parameter that nothing is known for.
    """
    return "/" + PARAMETER.sub(lambda found: values[found[1]], route)
