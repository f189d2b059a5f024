"""Programs without a network: Django's client with a key of one of the people."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from django.test import Client

from tests import people


class Caller:
    """One of the people, or nobody, calling the API; `json` bodies, parsed answers."""

    def __init__(self, name: str = "", *, key: str = "", **headers: str) -> None:
        key = key or (people.key_of(name) if name else "")
        given = {"Authorization": f"Bearer {key}"} if key else {}
        self.client = Client(raise_request_exception=False, headers={**given, **headers})

    def get(self, path: str, **more: Any) -> HttpResponse:
        return self.client.get(path, **more)

    def post(self, path: str, body: Any = None, *, key: str | None = None) -> HttpResponse:
        data = body if isinstance(body, str | bytes) else json.dumps(body)
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.client.post(path, data, content_type="application/json", headers=headers)

    def put(self, path: str, body: str | bytes) -> HttpResponse:
        return self.client.put(path, body, content_type="application/yaml")

    def send(self, body: dict[str, Any] | None = None, *, key: str | None = None) -> HttpResponse:
        return self.post("/api/chat", body or message(), key=key)

    def decide(self, gate_id: str, decision: str = "approve", *, key: str | None = None, **more):
        return self.post(
            f"/api/approvals/{gate_id}/decide", {"decision": decision, **more}, key=key
        )


def message(text: Any = "write note.txt", **more: Any) -> dict[str, Any]:
    """Return the body of a message to the agent `writer` on the thread `t1`."""
    said = [{"role": "user", "content": text}]
    return {"manifest": "writer", "messages": said, "thread_id": "t1", **more}


def refused(response: HttpResponse, status: int, code: str) -> dict[str, Any]:
    """Return the problem of an answer that is this refusal."""
    body = response.json()
    assert (response.status_code, body["code"]) == (status, code), body
    assert response.headers["Content-Type"] == "application/problem+json"
    assert body["status"] == status
    return body
