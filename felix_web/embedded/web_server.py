"""Daphne, with a pace: an application that sends faster than its reader reads is made to wait.

Daphne hands every piece to Twisted's buffer at once, which has no bound; a reader that stopped
reading would grow the process until it dies. Here `send` returns only once the socket takes more,
so that a slow stream fills its own bounded queue and is told to re-sync.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from daphne.http_protocol import WebRequest
from daphne.server import Server


class Pace:
    """A Twisted push producer that only knows whether the socket takes more."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()

    def pauseProducing(self) -> None:  # noqa: N802  Twisted's name
        """The socket's buffer is full."""
        self._open.clear()

    def resumeProducing(self) -> None:  # noqa: N802  Twisted's name
        """There is room again."""
        self._open.set()

    def stopProducing(self) -> None:  # noqa: N802  Twisted's name
        """The reader is gone; nobody needs to wait."""
        self._open.set()

    async def wait(self) -> None:
        """Return once the socket takes more."""
        await self._open.wait()


class PacedServer(Server):  # type: ignore[misc]
    """The web server of Felix's processes."""

    def serve_on(self, listener: socket.socket) -> None:
        """Serve what connects to the socket, until the reactor ends. The socket is the server's."""
        from twisted.internet import reactor

        def adopt() -> None:
            descriptor, family = listener.fileno(), listener.family
            reactor.adoptStreamPort(descriptor, family, self.http_factory)
            # Twisted has a copy; with this one open, clients would queue at an ended server.
            listener.close()

        # Daphne's own endpoints cannot take over an IPv6 socket.
        self.endpoints: list[str] = []
        self.ready_callable = adopt
        self.run()

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """The message is with the socket's buffer, and that has room for more."""
        pace = self._pace_of(protocol, message)
        await super().handle_reply(protocol, message)
        if pace is not None:
            await pace.wait()

    def _pace_of(self, protocol: Any, message: dict[str, Any]) -> Pace | None:
        """Return the pace of a body that goes on; the end of a body ends its pace."""
        is_open = isinstance(protocol, WebRequest) and protocol.channel is not None
        if not is_open or protocol.finished or message["type"] != "http.response.body":
            return None
        if not message.get("more_body"):
            if protocol.producer is not None:
                protocol.unregisterProducer()
            return None
        if protocol.producer is None:
            protocol.registerProducer(Pace(), True)
        pace: Pace = protocol.producer
        return pace
