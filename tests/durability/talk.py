"""Talking to agents of a running instance, and what the log and the files say afterwards."""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from agents.core.tools.base import INTERRUPTED
from agents.core.tools.paths import WorkspaceScope, workspace_root
from tests.durability.client import Answer, Client, Dropped
from tests.durability.harness import Felix
from tests.durability.processes import wait_for

ENDED = {"done", "failed", "stopped", "expired"}
EFFECTS = "effects.txt"

MANIFEST = """apiVersion: felix/v1
kind: Agent
metadata: {{name: {name}, description: for process tests}}
spec:
  pattern: react
  system_prompt: {{inline: "You do as you are told."}}
  tools: [calculator, list_dir, write_file]
  {approvals}
  limits: {{max_tool_calls: 50, max_wall_clock_seconds: 120}}
  execution: {{mode: {mode}}}
"""
GATED = "approvals: [{id: writes, tools: [write_file], ttl_seconds: 300}]"
AGENTS = {
    "free": MANIFEST.format(name="free", approvals="approvals: []", mode="durable"),
    "gated": MANIFEST.format(name="gated", approvals=GATED, mode="durable"),
    "waits": MANIFEST.format(name="waits", approvals="approvals: []", mode="transient"),
}


def put_agents(client: Client) -> None:
    """The agents of these tests are stored."""
    for name, text in AGENTS.items():
        answer = client.ask("PUT", f"/api/manifests/{name}", text)
        assert answer.status in (200, 201), answer.text


def append_call(word: str) -> str:
    """Return the line that makes the model propose adding one line to the effects file."""
    return f'call write_file {{"path": "{EFFECTS}", "content": "{word}\\n", "append": true}}'


@dataclass
class Thread:
    """One thread of an instance: what is sent to it, and what is found there."""

    felix: Felix
    agent: str = "free"
    name: str = field(default_factory=lambda: f"t-{secrets.token_hex(5)}")
    token: str = ""

    def body(self, text: str) -> dict[str, Any]:
        """Return the body of a send."""
        return {
            "manifest": self.agent,
            "thread_id": self.name,
            "messages": [{"role": "user", "content": text}],
        }

    def send(self, text: str, client: Client | None = None, **headers: str) -> str:
        """The message is accepted; returns its resume token."""
        answer = (client or self.felix.client).post("/api/chat", self.body(text), **headers)
        assert answer.status == 202, answer.text
        self.token = answer.body["resume_token"]
        return self.token

    def status(self, client: Client | None = None) -> str:
        """Return where the newest run stands; "" while nobody answers."""
        try:
            return str(self.run(client)["status"])
        except Dropped:
            return ""

    def run(self, client: Client | None = None) -> dict[str, Any]:
        """Return the newest run as its token shows it."""
        seen: dict[str, Any] = (client or self.felix.client).get(f"/api/chat/runs/{self.token}")
        return seen

    def wait_for(self, *statuses: str, timeout: float = 20.0, client: Client | None = None) -> str:
        """Return the status, once the newest run has one of these."""
        return wait_for(
            lambda: (at := self.status(client)) in statuses and at,
            f"a run of {self.name} that is {' or '.join(statuses)}",
            timeout,
        )

    def finish(self, timeout: float = 20.0) -> dict[str, Any]:
        """Return the newest run, once it has ended."""
        self.wait_for(*ENDED, timeout=timeout)
        return self.run()

    def events(self) -> list[dict[str, Any]]:
        """Return the whole log, oldest first."""
        page = self.felix.client.get(f"/api/chat/history/{self.name}?limit=200")
        found: list[dict[str, Any]] = sorted(page["events"], key=lambda event: event["seq"])
        return found

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Return the events of one kind."""
        return [event for event in self.events() if event["kind"] == kind]

    def results(self) -> list[str]:
        """Return how each call ended, in the log's order, as `tool: status`."""
        return [f"{event['tool']}: {event['status']}" for event in self.of_kind("tool_result")]

    def waiting_gate(self, client: Client | None = None) -> dict[str, Any]:
        """Return the thread's one waiting gate, once there is one."""
        path = f"/api/approvals?status=waiting&thread_id={self.name}"

        def look() -> list[dict[str, Any]]:
            items: list[dict[str, Any]] = (client or self.felix.client).get(path)["items"]
            return items

        (gate,) = wait_for(look, "a waiting gate")
        return gate

    def effects(self) -> Counter[str]:
        """Return how often each line stands in the effects file: counted outside Felix."""
        root = workspace_root(self.felix.data_dir, "default", WorkspaceScope.THREAD, self.name)
        file = root / EFFECTS
        return Counter(file.read_text().split() if file.exists() else ())

    def check_log(self) -> None:
        """The log is sound: dense places, one start and one result at most and exactly per call."""
        events = self.events()
        assert [event["seq"] for event in events] == list(range(len(events)))
        proposed = [
            call["id"]
            for event in events
            if event["kind"] == "assistant_message"
            for call in event["tool_calls"]
        ]
        answered = Counter(e["call_id"] for e in events if e["kind"] == "tool_result")
        started = Counter(e["call_id"] for e in events if e["kind"] == "call_started")
        assert answered == Counter(proposed), "every call has one result"
        assert all(count == 1 for count in started.values()), "no call was started twice"
        for event in events:
            if event.get("status") == "interrupted":
                assert event["content"] == INTERRUPTED

    def check_usable(self) -> None:
        """The next message is answered, and the model finds nothing wrong with the transcript."""
        self.send("say still here")
        assert self.finish()["final"]["content"] == "still here"
        assert self.felix.fake.violations == []


def decide(client: Client, gate: dict[str, Any], word: str = "approve") -> Answer:
    """Return the answer to a decision on exactly what the gate shows."""
    body = {"decision": word, "digest": gate["digest"], "revision": gate["revision"]}
    return client.post(f"/api/approvals/{gate['gate_id']}/decide", body)
