"""A reader that stops reading costs the server nothing, and is told to re-sync when it reads on."""

from __future__ import annotations

import json
import socket

from tests.durability.harness import Felix
from tests.durability.processes import wait_for
from tests.durability.talk import Thread
from tests.fakes.provider import FakeProvider, ScriptedToolCall, Step, call

CHATTY = """apiVersion: felix/v1
kind: Agent
metadata: {name: chatty}
spec:
  tools: [calculator]
  limits: {max_tool_calls: 500}
  recursion_limit: 30
  execution: {mode: durable}
"""
BIG = "many words " * 90_000
CALLS = 90


def sums(count: int) -> tuple[ScriptedToolCall, ...]:
    return tuple(call("calculator", f'{{"expression": "{number}+1"}}') for number in range(count))


def open_and_stop_reading(felix: Felix, thread: Thread) -> socket.socket:
    """Return the socket of a stream whose reader has taken nothing and has little room."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.connect(("127.0.0.1", felix.client.port))
    body = json.dumps(thread.body(f"begin {thread.name}")).encode()
    head = (
        f"POST /api/chat/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        f"Authorization: Bearer {felix.client.key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    reader.sendall(head.encode() + body)
    return reader


def ended(felix: Felix, thread: Thread) -> bool:
    run = felix.client.get(f"/api/chat/sessions/{thread.name}")["run"]
    return run is not None and run["status"] == "done"


def read_on(reader: socket.socket) -> bytes:
    reader.settimeout(60)
    pieces = []
    while piece := reader.recv(1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def test_a_reader_that_stopped_reading_is_sent_a_snapshot_and_the_end(
    felix: Felix, fake: FakeProvider
) -> None:
    assert felix.client.ask("PUT", "/api/manifests/chatty", CHATTY).status in (200, 201)
    thread = Thread(felix, agent="chatty")
    for _ in range(12):
        fake.script(Step(match=thread.name, text=BIG, piece=0, calls=sums(1)))
    for _ in range(4):
        fake.script(Step(match=thread.name, piece=0, calls=sums(CALLS)))
    fake.script(Step(match=thread.name, text="over"))

    with open_and_stop_reading(felix, thread) as reader:
        Thread(felix).check_usable()
        wait_for(lambda: ended(felix, thread), "the run has ended", timeout=120)
        said = read_on(reader)

    assert b'"type":"snapshot"' in said
    assert b"data: [DONE]" in said[-200:]
    assert len(said) < 12 * len(BIG) * 2
