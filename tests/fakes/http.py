"""A small HTTP/1.1 server on asyncio, made for misbehaving: the handler owns every byte."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any


@dataclass
class HttpRequest:
    """One request, read whole."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class ClientLeft(Exception):
    """The client closed the connection before the response was whole."""


class Connection:
    """One client's connection. Reads requests, and notices when the client leaves meanwhile."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ahead = b""

    async def read_request(self) -> HttpRequest | None:
        """Return the next request, or None once the client is done."""
        try:
            head = self._ahead + await self._reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        self._ahead = b""
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        pairs = (line.partition(":") for line in lines if line)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", "0"))
        return HttpRequest(method, path, headers, await self._reader.readexactly(length))

    async def attend(self, respond: Awaitable[None]) -> None:
        """Let `respond` run to its end.

        Raises:
            ClientLeft: the client closed the connection first; `respond` was cancelled.
        """
        responding = asyncio.ensure_future(respond)
        listening = asyncio.ensure_future(self._reader.read(1))
        try:
            await asyncio.wait({responding, listening}, return_when=asyncio.FIRST_COMPLETED)
            if not responding.done() and not self._heard(listening):
                raise ClientLeft
            await responding
        except ConnectionError:
            raise ClientLeft from None
        finally:
            await self._settle(responding)
            await self._settle(listening)
            if not listening.cancelled():
                self._heard(listening)

    def _heard(self, listening: asyncio.Future[bytes]) -> bool:
        if listening.exception() is not None:
            return False
        self._ahead = listening.result()
        return bool(self._ahead)

    async def _settle(self, future: asyncio.Future[Any]) -> None:
        future.cancel()
        with suppress(asyncio.CancelledError, ConnectionError):
            await future

    async def write(self, data: bytes) -> None:
        """Hand the bytes to the network."""
        self._writer.write(data)
        await self._writer.drain()

    def reset(self) -> None:
        """Drop the connection as a crashed server does."""
        self._writer.transport.abort()

    @property
    def client_port(self) -> int:
        """The client's port: the same for every request of one connection."""
        port: int = self._writer.get_extra_info("peername")[1]
        return port

    @property
    def is_closed(self) -> bool:
        """True once nothing more can be sent."""
        return self._writer.transport.is_closing()

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


Handler = Callable[[Connection, HttpRequest], Awaitable[None]]


def response_head(status: int, headers: dict[str, str]) -> bytes:
    """Return the status line and the headers of a response."""
    lines = [f"HTTP/1.1 {status} {'OK' if status < 400 else 'Error'}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def json_response(status: int, body: bytes, headers: dict[str, str] | None = None) -> bytes:
    """Return a whole response that carries JSON."""
    described = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    return response_head(status, {**described, **(headers or {})}) + body


def chunk(data: bytes) -> bytes:
    """Return one chunk of a chunked body; nothing for no bytes, as an empty chunk is the end."""
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


LAST_CHUNK = b"0\r\n\r\n"


async def serve_connection(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler
) -> None:
    """Answer the requests of one connection until either side ends it."""
    connection = Connection(reader, writer)
    try:
        while not connection.is_closed:
            request = await connection.read_request()
            if request is None:
                break
            await handler(connection, request)
    except ClientLeft:
        pass
    finally:
        await connection.close()
