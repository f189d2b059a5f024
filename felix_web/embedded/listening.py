"""The socket that the web server listens on, open before anything is said or written."""

from __future__ import annotations

import socket

from felix_web.env import EnvError

BACKLOG = 128


def open_listener(bind: str, port: int) -> socket.socket:
    """Return a socket that listens. Clients that connect from now on wait until the server runs.

    Raises:
        EnvError: the address is none of this machine's, or another process has the port.
    """
    try:
        found = socket.getaddrinfo(bind.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise EnvError(
            f"FELIX_BIND: there is no address {bind!r} to listen on.", variable="FELIX_BIND"
        ) from None
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as problem:
        listener.close()
        raise EnvError(
            f"Felix cannot listen on {bind}:{port} (FELIX_BIND, FELIX_PORT): {problem.strerror}.",
            variable="FELIX_PORT",
        ) from None
    listener.setblocking(False)
    return listener
