"""A stream of frames as an HTTP answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from django.http import StreamingHttpResponse

HEARTBEAT_SECONDS = 15.0


def sse(
    generator: AsyncGenerator[bytes, None], *, headers: Mapping[str, str] | None = None
) -> StreamingHttpResponse:
    """Return the answer that sends the generator's fields as they come, and a comment after 15 s of silence.

    The generator is closed when the reader goes away.
    """
    raise NotImplementedError
