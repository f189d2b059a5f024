"""A stream of frames as an HTTP answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from django.http import StreamingHttpResponse

from felix_web.surfaces.database import let_thread_go

STREAM_HEADERS = {
    "cache-control": "no-cache",
    "content-encoding": "identity",
    "x-accel-buffering": "no",
}
"""What keeps proxies from storing, packing or collecting what is to be seen at once."""


def sse(
    generator: AsyncGenerator[bytes, None], *, headers: Mapping[str, str] | None = None
) -> StreamingHttpResponse:
    """Return the answer that sends the generator's fields as they come. The generator brings its
    own heartbeats.

    It is closed when the reader goes away.
    """
    return StreamingHttpResponse(
        _closed_at_the_end(generator),
        content_type="text/event-stream",
        headers={**STREAM_HEADERS, **(headers or {})},
    )


async def _closed_at_the_end(generator: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    let_thread_go()
    async with aclosing(generator) as fields:
        async for field in fields:
            yield field
