"""A strict fake provider: a real HTTP server that speaks chat completions and judges what it gets.

By hand, or from another process:

    python -m tests.fakes.provider --port 9900          # prints its base URL, then serves
    POST /script {"steps": [{"text": "hi"}, ...]}       # answers for the requests to come, in order
    GET  /requests                                      # what was recorded, newest last
    POST /reset                                         # forget steps, records and signatures

In a test:

    with FakeProvider() as fake:
        fake.script(Step(status=429, retry_after="1"), Step(text="hello"))
        ... point a client at fake.base_url ...
        assert fake.violations == []

Every chat request is judged first (tests/fakes/judge.py); an unsound one gets 400 and takes no
step. A sound one takes the first step of the queue whose `match` it holds (tests/fakes/steps.py
lists what a step can do), else asks the function given to `script_by`, else follows the lines of
its last user message:

    call <tool> <json>    propose a call; several lines are several calls of one message
    say <text>            put this text into the message
    think <text>          put a signed block of reasoning into the message
    with <json>           set further fields of the step (tests/fakes/steps.py), such as
                          with {"delay_ms": 500} or with {"drip_ms": 5}
    then                  what follows belongs to the next assistant message

A message with calls is followed by the next one once all its results have come. After the last
one the answer is `done: <n> results`, n counting since the user's message. Other lines are
ignored; a message with no such line at all is answered with `You said: <message>`.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from tests.fakes import dialogue
from tests.fakes.http import (
    LAST_CHUNK,
    ClientLeft,
    Connection,
    HttpRequest,
    chunk,
    json_response,
    response_head,
    serve_connection,
)
from tests.fakes.issued import Issued
from tests.fakes.judge import judge
from tests.fakes.steps import Answer, ScriptedToolCall, Step, ThinkingBlock, call, step_from_json
from tests.fakes.wire import compact, completion_bytes, error_body, stream_bytes, usage_of

__all__ = ["FakeProvider", "Recorded", "ScriptedToolCall", "Step", "ThinkingBlock", "call"]

CHAT_PATHS = ("/v1/chat/completions", "/chat/completions")


@dataclass
class Recorded:
    """One chat request as it came, and what became of it.

    `raw` are its bytes. `at` is `time.time()`. `status` is 0 until an answer began. Requests of one
    connection have one `client_port`.
    """

    headers: dict[str, str]
    raw: bytes
    at: float
    client_port: int
    body: Any = None
    violations: list[str] = field(default_factory=list)
    status: int = 0
    has_ended: bool = False
    disconnected: bool = False
    disconnected_at: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the record as GET /requests shows it."""
        hidden = ("raw",)
        return {name: value for name, value in vars(self).items() if name not in hidden}


class FakeProvider:
    """The server on a thread of its own, from `with` or `start` until `stop`."""

    def __init__(self, port: int = 0, host: str = "127.0.0.1") -> None:
        self.requests: list[Recorded] = []
        self._address = (host, port)
        self._steps: list[Step] = []
        self._by: Callable[[dict[str, Any]], Step | None] | None = None
        self._issued = Issued()
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def start(self) -> Self:
        """Serve from now on; `base_url` is known when this returns."""
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(10)
        return self

    def stop(self) -> None:
        """Close every connection and end the thread."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    __enter__ = start

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._client, *self._address, limit=1 << 26)
        self._address = self._server.sockets[0].getsockname()[:2]

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            await serve_connection(reader, writer, self._handle)
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._clients.discard(task)

    async def _close(self) -> None:
        assert self._server is not None
        self._server.close()
        clients = list(self._clients)
        for task in clients:
            task.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def base_url(self) -> str:
        """What a client's base URL must be."""
        return f"http://{self._address[0]}:{self._address[1]}/v1"

    @property
    def violations(self) -> list[str]:
        """Everything the judge found, in order."""
        return [finding for record in self.requests for finding in record.violations]

    def script(self, *steps: Step) -> None:
        """Queue answers for the requests to come."""
        with self._changed:
            self._steps.extend(steps)

    def script_by(self, function: Callable[[dict[str, Any]], Step | None] | None) -> None:
        """Let a function of the request's body choose; None from it means the default."""
        self._by = function

    def reset(self) -> None:
        """Forget steps, records and every signature issued: a new conversation begins."""
        with self._changed:
            self._steps.clear()
            self.requests.clear()
            self._by = None
            self._issued = Issued()

    def wait_until(self, holds: Callable[[], bool], timeout: float = 5.0) -> bool:
        """Return True as soon as `holds()` does; it is asked again after every change here."""
        with self._changed:
            return self._changed.wait_for(holds, timeout)

    def wait_for_request(self, number: int = 1, timeout: float = 5.0) -> Recorded:
        """Return the n-th chat request, once it has come."""
        assert self.wait_until(lambda: len(self.requests) >= number, timeout), "no such request"
        return self.requests[number - 1]

    def wait_for_disconnect(self, number: int = 1, timeout: float = 5.0) -> Recorded:
        """Return the n-th chat request, once its client has left before the answer's end."""
        record = self.wait_for_request(number, timeout)
        assert self.wait_until(lambda: record.disconnected, timeout), "the client is still there"
        return record

    def _changes(self, **values: Any) -> partial[None]:
        return partial(self._change, values)

    def _change(self, values: dict[str, Any], record: Recorded) -> None:
        with self._changed:
            for name, value in values.items():
                setattr(record, name, value)
            self._changed.notify_all()

    async def _handle(self, connection: Connection, request: HttpRequest) -> None:
        path = request.path.partition("?")[0]
        if request.method == "POST" and path in CHAT_PATHS:
            await self._chat(connection, request)
        else:
            await connection.write(self._control(request.method, path, request.body))

    def _control(self, method: str, path: str, body: bytes) -> bytes:
        if (method, path) == ("POST", "/script"):
            return self._take_script(body)
        if (method, path) == ("POST", "/reset"):
            self.reset()
            return json_response(200, b"{}")
        if (method, path) == ("GET", "/requests"):
            return json_response(200, compact([record.as_json() for record in self.requests]))
        if (method, path) == ("GET", "/v1/models"):
            return json_response(200, compact({"object": "list", "data": [{"id": "fake"}]}))
        return json_response(404, error_body(404, f"no route {method} {path}"))

    def _take_script(self, body: bytes) -> bytes:
        try:
            steps = [step_from_json(step) for step in json.loads(body)["steps"]]
        except (ValueError, KeyError, TypeError) as error:
            return json_response(400, error_body(400, f"not a script: {error}"))
        self.script(*steps)
        return json_response(200, compact({"queued": len(self._steps)}))

    async def _chat(self, connection: Connection, request: HttpRequest) -> None:
        record = Recorded(request.headers, request.body, time.time(), connection.client_port)
        account = self._judge(record)
        with self._changed:
            self.requests.append(record)
            self._changed.notify_all()
        try:
            await connection.attend(self._answer(connection, record, account))
        except ClientLeft:
            self._changes(disconnected=True, disconnected_at=time.time())(record)
            raise
        finally:
            self._changes(has_ended=True)(record)

    def _judge(self, record: Recorded) -> str:
        """Fill in the record's body and violations; return model and account in one text."""
        try:
            record.body = json.loads(record.raw)
        except ValueError:
            record.violations = ["the body must be JSON"]
            return ""
        key = record.headers.get("authorization", "")
        model = record.body.get("model") if isinstance(record.body, dict) else ""
        account = f"{model} {hashlib.sha256(key.encode()).hexdigest()}"
        record.violations = judge(record.body, issued=self._issued, account=account)
        return account

    def _step_for(self, body: dict[str, Any]) -> Step:
        text = dialogue.last_user_text(body["messages"])
        with self._changed:
            for number, step in enumerate(self._steps):
                if step.match in text:
                    return self._steps.pop(number)
        chosen = self._by(body) if self._by else None
        return chosen or dialogue.next_step(body["messages"])

    async def _answer(self, connection: Connection, record: Recorded, account: str) -> None:
        if record.violations:
            self._changes(status=400)(record)
            await connection.write(json_response(400, error_body(400, record.violations[0])))
            return
        try:
            step = self._step_for(record.body)
        except ValueError as error:
            self._changes(status=400)(record)
            await connection.write(json_response(400, error_body(400, f"bad line: {error}")))
            return
        if step.delay_ms:
            await asyncio.sleep(step.delay_ms / 1000)
        if step.hang:
            await asyncio.Event().wait()
        self._changes(status=step.status)(record)
        if step.status >= 400:
            await connection.write(_refusal(step))
            return
        answer = self._issued.answer(step, account)
        await _send(connection, answer, record.body)


def _refusal(step: Step) -> bytes:
    headers = {"Retry-After": step.retry_after} if step.retry_after else {}
    message = step.text or f"the fake was told to answer {step.status}"
    body = error_body(step.status, message, code=step.error_code, kind=step.error_type)
    return json_response(step.status, body, headers)


async def _send(connection: Connection, answer: Answer, body: dict[str, Any]) -> None:
    step, model = answer.step, str(body["model"])
    usage = usage_of(step, len(json.dumps(body["messages"])))
    if not body.get("stream"):
        whole = completion_bytes(answer, model=model, usage=usage if step.with_usage else None)
        await connection.write(json_response(200, whole))
        return
    asked = (body.get("stream_options") or {}).get("include_usage")
    report = usage if step.with_usage and asked else None
    headers = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}
    await connection.write(response_head(200, headers))
    await _send_stream(connection, step, stream_bytes(answer, model=model, usage=report))


async def _send_stream(connection: Connection, step: Step, data: bytes) -> None:
    ends = (step.end_at, step.die_at, step.hang_after)
    data = data[: next((end for end in ends if end is not None), len(data))]
    for part in _parts(step, data):
        await connection.write(chunk(part))
        # Lets the first part reach the client as a read of its own.
        await asyncio.sleep(step.drip_ms / 1000)
    if step.hang_after is not None:
        await asyncio.Event().wait()
    if step.die_at is not None:
        connection.reset()
        return
    await connection.write(LAST_CHUNK)


def _parts(step: Step, data: bytes) -> list[bytes]:
    if step.drip_ms:
        size = step.drip_bytes
        return [data[start : start + size] for start in range(0, len(data), size)]
    if step.split_at is not None:
        return [data[: step.split_at], data[step.split_at :]]
    return [data]


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tests.fakes.provider")
    parser.add_argument("--port", type=int, default=0, help="0 (default): any free port")
    parser.add_argument("--host", default="127.0.0.1")
    options = parser.parse_args()
    with FakeProvider(options.port, options.host) as fake:
        sys.stdout.write(f"{fake.base_url}\n")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
