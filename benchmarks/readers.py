"""Readers of one thread, all in this process: each is cut and comes back with its cursor.

Prints `attached` once all of them are, then, when their streams have ended, one JSON line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import time
from collections import Counter
from dataclasses import dataclass, field

EVENT = re.compile(rb'\Aid: (\d+)\ndata: .*"type":"event","seq":(\d+),.*"ts":(\d+)', re.DOTALL)
END = b"data: [DONE]"
RETRY_SECONDS = 0.05
PLACES_AT_ONCE = 40


@dataclass(slots=True)
class Reader:
    """One reader: where it is, what it saw how often, and how late that was, in ms.

    `cuts` are the events behind which its connection is cut.
    """

    cuts: set[int]
    cursor: int = 0
    seen: Counter[int] = field(default_factory=Counter)
    lags: list[float] = field(default_factory=list)
    attached_ms: float = 0.0
    connections: int = 0
    has_ended: bool = False

    def take(self, part: bytes) -> bool:
        """Return whether the connection is to be cut behind this field."""
        if part.startswith(END):
            self.has_ended = True
        found = EVENT.match(part)
        if found is None:
            return False
        next_seq, seq, at = (int(number) for number in found.groups())
        self.cursor = next_seq
        self.seen[seq] += 1
        # What was written before the reader came back is late through no fault of the server.
        if at >= self.attached_ms:
            self.lags.append(time.time() * 1000 - at)
        return seq in self.cuts and self.seen[seq] == 1


async def _connect(
    given: argparse.Namespace, reader: Reader
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    source, sink = await asyncio.open_connection("127.0.0.1", given.port)
    sink.write(
        f"GET /api/chat/stream/{given.thread} HTTP/1.0\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {given.key}\r\nLast-Event-ID: {reader.cursor}\r\n\r\n".encode()
    )
    head = await source.readuntil(b"\r\n\r\n")
    status = head.split(b" ", 2)[1]
    if status != b"200":
        raise ConnectionError(f"attach answered {status.decode()}")
    reader.attached_ms = time.time() * 1000
    reader.connections += 1
    return source, sink


async def _follow(
    given: argparse.Namespace, reader: Reader, gate: asyncio.Semaphore, first: asyncio.Event
) -> None:
    while not reader.has_ended:
        async with gate:
            source, sink = await _connect(given, reader)
        first.set()
        await _read(source, reader)
        sink.transport.abort()


async def _read(source: asyncio.StreamReader, reader: Reader) -> None:
    """Read until the end, or until the reader is to be cut; what is left unread is lost."""
    rest = b""
    while data := await source.read(65536):
        *parts, rest = (rest + data).split(b"\n\n")
        for part in parts:
            if reader.take(part):
                return
    await asyncio.sleep(RETRY_SECONDS)


def _readers(given: argparse.Namespace) -> list[Reader]:
    dice = random.Random(7)
    places = range(given.first_event + 1, given.last_event)
    return [Reader(set(dice.sample(places, given.cuts))) for _ in range(given.readers)]


async def _main(given: argparse.Namespace) -> None:
    readers = _readers(given)
    gate = asyncio.Semaphore(PLACES_AT_ONCE)
    first = [asyncio.Event() for _ in readers]
    following = [
        asyncio.create_task(_follow(given, reader, gate, event))
        for reader, event in zip(readers, first, strict=True)
    ]
    await asyncio.gather(*(event.wait() for event in first))
    print("attached", flush=True)
    await asyncio.gather(*following)
    print(json.dumps(_summary(readers, given)), flush=True)


def _summary(readers: list[Reader], given: argparse.Namespace) -> dict[str, float]:
    wanted = set(range(given.last_event + 1))
    lags = sorted(lag for reader in readers for lag in reader.lags)
    return {
        "readers": len(readers),
        "connections": sum(reader.connections for reader in readers),
        "missed": sum(len(wanted - reader.seen.keys()) for reader in readers),
        "repeated": sum(count - 1 for reader in readers for count in reader.seen.values()),
        "lag_p50_ms": lags[len(lags) // 2],
        "lag_p95_ms": lags[int(len(lags) * 0.95)],
        "lag_max_ms": lags[-1],
    }


def main() -> None:
    """All readers followed the thread to the end of its run."""
    parser = argparse.ArgumentParser()
    for name in ("port", "readers", "cuts", "first_event", "last_event"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, required=True)
    for name in ("thread", "key"):
        parser.add_argument(f"--{name}", required=True)
    asyncio.run(_main(parser.parse_args()))


if __name__ == "__main__":
    main()
