"""What the fake has issued: ids, signatures, and which answer each signed block belongs to."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tests.fakes.steps import Answer, Step, ThinkingBlock

Key = tuple[str, str, str]


def arguments_key(arguments: str) -> str:
    """Return the arguments as a client may send them back: canonical, `{}` for no JSON object."""
    try:
        value = json.loads(arguments, strict=False) if arguments.strip() else {}
    except ValueError:
        value = {}
    return json.dumps(value if isinstance(value, dict) else {}, sort_keys=True)


def _key(account: str, text: str, calls: list[tuple[str, str]]) -> Key:
    return account, text, json.dumps([[name, arguments_key(args)] for name, args in calls])


class Issued:
    """Remembers answers by account, text and calls (not by id: a client may mint an id anew)."""

    def __init__(self) -> None:
        self._count = 0
        self._answers: dict[Key, list[list[dict[str, Any]]]] = {}

    def answer(self, step: Step, account: str) -> Answer:
        """Return the step with fresh ids and signatures, and remember it."""
        self._count += 1
        ids = [c.call_id or f"call_{self._count}_{n}" for n, c in enumerate(step.calls)]
        details = [self._detail(block, n) for n, block in enumerate(step.thinking)]
        key = _key(account, step.text, [(c.name, c.arguments) for c in step.calls])
        signed = [entry for entry in details if entry.get("signature") or entry.get("data")]
        self._answers.setdefault(key, []).append(signed)
        return Answer(step, ids, details)

    def _detail(self, block: ThinkingBlock, index: int) -> dict[str, Any]:
        seed = f"{self._count}/{index}/{block.text}".encode()
        secret = f"sig-{self._count}-{index}-{hashlib.sha256(seed).hexdigest()[:16]}"
        entry: dict[str, Any] = {
            "type": f"reasoning.{block.kind}",
            "index": index,
            "format": "fake-1",
        }
        if block.kind == "encrypted":
            return {**entry, "id": f"enc_{index}", "data": secret}
        return {**entry, "text": block.text, **({"signature": secret} if block.is_signed else {})}

    def expected(self, account: str, message: dict[str, Any]) -> list[list[dict[str, Any]]]:
        """Return the blocks that may stand in an assistant message; none for one not issued."""
        calls = [
            (c["function"]["name"], c["function"]["arguments"])
            for c in message.get("tool_calls") or ()
        ]
        return self._answers.get(_key(account, message.get("content") or "", calls), [[]])
