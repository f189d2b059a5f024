"""The outermost layer, plain ASGI: a request id on every answer, a bound on every body."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from felix_web.common.ids import new_id
from felix_web.logs import bind_request

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

Header = tuple[bytes, bytes]
NOSNIFF: Header = (b"x-content-type-options", b"nosniff")
REQUEST_ID = re.compile(rb"\A[A-Za-z0-9._:-]{1,128}\Z")


def _header(scope: MutableMapping[str, Any], name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")


def _without(headers: Iterable[Header], name: bytes) -> list[Header]:
    return [header for header in headers if header[0].lower() != name]


def _declared_length(scope: MutableMapping[str, Any]) -> int:
    length = _header(scope, b"content-length")
    return int(length) if length.isdigit() else 0


async def _refuse(send: Send, limit: int) -> None:
    problem = {
        "type": "about:blank",
        "title": "Payload too large",
        "status": 413,
        "code": "payload_too_large",
        "detail": f"The body may have {limit} bytes at most.",
    }
    headers = [(b"content-type", b"application/problem+json")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(problem).encode()})


async def _buffered(receive: Receive, limit: int) -> list[Message] | None:
    """Return the body's messages, or None where they hold more bytes than the limit."""
    messages: list[Message] = []
    total = 0
    while True:
        message = await receive()
        messages.append(message)
        total += len(message.get("body", b""))
        if total > limit:
            return None
        if message["type"] != "http.request" or not message.get("more_body"):
            return messages


def _replay(messages: list[Message], receive: Receive) -> Receive:
    async def next_message() -> Message:
        return messages.pop(0) if messages else await receive()

    return next_message


def edge(app: App, *, largest_body_bytes: int) -> App:
    """Return the app with an `x-request-id` on every answer, the caller's own where it is plain.

    A body over the limit, declared or streamed, is refused with 413 before anything is parsed.
    """

    async def handle(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        given = _header(scope, b"x-request-id")
        request_id = given if REQUEST_ID.match(given) else new_id("req").encode()
        scope["felix.request_id"] = request_id.decode()

        own_id = (b"x-request-id", request_id)

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                given_headers = message.get("headers", [])
                message["headers"] = [*_without(given_headers, NOSNIFF[0]), NOSNIFF, own_id]
            await send(message)

        with bind_request(request_id=scope["felix.request_id"]):
            if _declared_length(scope) > largest_body_bytes:
                await _refuse(send_with_id, largest_body_bytes)
                return
            body = await _buffered(receive, largest_body_bytes)
            if body is None:
                await _refuse(send_with_id, largest_body_bytes)
                return
            await app(scope, _replay(body, receive), send_with_id)

    return handle
