"""A program that talks to Felix over its public REST interface: the standard library alone."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any


class Dropped(Exception):
    """The connection ended, or was refused, before an answer was whole."""


@dataclass
class Answer:
    """What came back. `body` is the JSON, or the text where it is none."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)


@dataclass
class Client:
    """One key's requests to one web process."""

    port: int
    key: str = ""
    timeout: float = 30.0
    headers: dict[str, str] = field(default_factory=dict)

    def begin(self, method: str, path: str, body: Any = None, **headers: str) -> HTTPConnection:
        """Return the connection of a request that was sent and has no answer yet.

        Raises:
            Dropped: the server is not there.
        """
        connection = HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        sent = {"Connection": "close", **self.headers}
        if self.key:
            sent["Authorization"] = f"Bearer {self.key}"
        if isinstance(body, str):
            sent["Content-Type"] = "application/yaml"
        elif body is not None:
            sent["Content-Type"] = "application/json"
            body = json.dumps(body)
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, body, headers=sent)
        except (OSError, HTTPException) as error:
            connection.close()
            raise Dropped(f"{method} {path}: {type(error).__name__}") from None
        return connection

    def open(self, method: str, path: str, body: Any = None, **headers: str) -> HTTPResponse:
        """Return the response with its body unread, as a stream needs it.

        Raises:
            Dropped: the server went away, or is not there.
        """
        connection = self.begin(method, path, body, **headers)
        try:
            return connection.getresponse()
        except (OSError, HTTPException) as error:
            connection.close()
            raise Dropped(f"{method} {path}: {type(error).__name__}") from None

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Return the whole answer.

        Raises:
            Dropped: the server went away, or is not there.
        """
        response = self.open(method, path, body, **headers)
        try:
            text = response.read().decode()
        except (OSError, HTTPException) as error:
            raise Dropped(f"{method} {path}: {type(error).__name__}") from None
        finally:
            response.close()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, text)

    def get(self, path: str) -> Any:
        """Return the JSON of a successful GET."""
        answer = self.ask("GET", path)
        assert answer.status == 200, f"GET {path}: {answer.status} {answer.text[:300]}"
        return answer.body

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        """Return the answer to a POST."""
        return self.ask("POST", path, body, **headers)
