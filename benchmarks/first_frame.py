"""From a message to its first frame, beside a bare Django view that makes the same commits."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.instance import scratch_directory
from benchmarks.report import Report, percentile
from benchmarks.served import START_SECONDS, accepts, served
from tests.durability.client import Client
from tests.durability.processes import Command, environment, free_port, run, wait_for

WARM_ROUNDS = 20
ROUNDS = 100
RATIO_TO_BARE = 2.5
BODY = {"manifest": "quick", "messages": [{"role": "user", "content": "say hello"}]}
CONTENT = ("text_delta", "assistant_message")


@dataclass(frozen=True, slots=True)
class Times:
    """What one stream took, in ms: to its first frame, to its first content, to its end."""

    first: float
    content: float
    end: float


def stream_times(client: Client) -> Times:
    """Return the times of one message from the moment the connection is opened."""
    began = time.perf_counter()
    first = content = 0.0
    response = client.open("POST", "/api/chat/stream", BODY)
    with response:
        assert response.status == 200, f"{response.status} {response.read(300)!r}"
        for line in response:
            if not line.startswith(b"data: {"):
                continue
            now = (time.perf_counter() - began) * 1000
            first = first or now
            content = content or (now if _is_content(json.loads(line[6:])) else 0.0)
    return Times(first, content, (time.perf_counter() - began) * 1000)


def _is_content(frame: dict[str, Any]) -> bool:
    return frame["type"] in CONTENT or frame.get("kind") in CONTENT


@contextmanager
def bare_server(directory: Path) -> Iterator[Client]:
    """Yield a client of the bare view, served by daphne in a process of its own."""
    port = free_port()
    settings = environment() | {
        "BARE_DATA_DIR": str(directory),
        "DJANGO_SETTINGS_MODULE": "benchmarks.bare.settings",
    }
    migrate = (sys.executable, "-m", "django", "migrate", "--run-syncdb", "--verbosity", "0")
    code, _, complaint = run(*migrate, env=settings)
    assert code == 0, complaint
    serve = ("-m", "daphne", "-b", "127.0.0.1", "-p", str(port), "-v", "0")
    arguments = (sys.executable, *serve, "benchmarks.bare.asgi:application")
    process = Command(*arguments, env=settings, log=directory / "bare.log")
    try:
        wait_for(lambda: accepts(port), "the bare view answers", START_SECONDS)
        yield Client(port)
    finally:
        process.kill()


def main() -> None:
    """Both were asked in turn, so that the machine's moods fall on both."""
    with (
        scratch_directory() as directory,
        served(directory) as instance,
        bare_server(directory) as bare,
    ):
        for _ in range(WARM_ROUNDS):
            stream_times(instance.client)
            stream_times(bare)
        pairs = [(stream_times(instance.client), stream_times(bare)) for _ in range(ROUNDS)]
    ours = [pair[0] for pair in pairs]
    first = [times.first for times in ours]
    floor = [pair[1].first for pair in pairs]
    report = Report("first_frame")
    report.figure("first_ms", median(first), "ms", "p50, connection included")
    report.figure("first_p95_ms", percentile(first, 0.95), "ms")
    report.figure("bare_ms", median(floor), "ms", "p50")
    report.figure("bare_p95_ms", percentile(floor, 0.95), "ms")
    report.claim("to_bare", median(first) / median(floor), "times", at_most=RATIO_TO_BARE)
    content = median([times.content for times in ours])
    report.figure("content_ms", content, "ms", "p50, the provider answers at once")
    report.figure("end_ms", median([times.end for times in ours]), "ms", "p50")
    report.show()


if __name__ == "__main__":
    main()
