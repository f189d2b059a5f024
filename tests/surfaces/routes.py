"""Every address of the web process, from Django's own resolver: one that is added later is found here by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, get_resolver

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


def routes(resolver: Any = None, prefix: str = "") -> Iterator[str]:
    """Yield every route as Django writes it: `api/approvals/<gate_id>`."""
    for entry in (resolver or get_resolver()).url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLPattern):
            yield route
        else:
            yield from routes(entry, route)


def parameters(route: str) -> list[str]:
    """Return the names of a route's parameters."""
    return PARAMETER.findall(route)


def filled(route: str, values: dict[str, str]) -> str:
    """Return the address of a route with these parameters.

    Raises:
        KeyError: the route has a parameter that nothing is known for.
    """
    return "/" + PARAMETER.sub(lambda found: values[found[1]], route)
