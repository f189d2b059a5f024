"""The data directory is a mount that fills up: the process survives, and goes on afterwards."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.durability.client import Client
from tests.durability.harness import Embedded
from tests.durability.processes import wait_for
from tests.durability.talk import Thread, append_call, put_agents
from tests.fakes.provider import FakeProvider

SIZE = "6m"


@pytest.fixture
def small(tmp_path: Path, fake: FakeProvider) -> Iterator[Embedded]:
    """An instance whose data directory holds 6 MiB."""
    felix = Embedded(tmp_path, fake)
    felix.data_dir.mkdir()
    place = str(felix.data_dir)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", place], check=True)
    try:
        felix.start()
        put_agents(felix.client)
        yield felix
    finally:
        felix.close()
        subprocess.run(["umount", place], check=True)


def fill(felix: Embedded) -> Path:
    """Return the file that took the last byte."""
    filler = felix.data_dir / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            write_until_full(file, size)
    return filler


def write_until_full(file: object, size: int) -> None:
    try:
        while file.write(b"\0" * size):  # type: ignore[attr-defined]
            pass
    except OSError:
        return


def test_a_full_disk_stops_nothing_for_good(small: Embedded, fake: FakeProvider) -> None:
    thread = Thread(small)
    asked = len(fake.requests)
    thread.send(f'{append_call("one")}\nwith {{"delay_ms": 600}}\nthen\nsay over')
    fake.wait_for_request(asked + 1)

    filler = fill(small)
    refused = Thread(small)
    answers = [small.client.post("/api/chat", refused.body("say late")) for _ in range(3)]
    alive = small.client.ask("GET", "/live").status
    filler.unlink()
    run = thread.finish(timeout=40)

    assert alive == 200
    assert {answer.status for answer in answers} <= {202, 409, 503}
    assert all("Traceback" not in answer.text for answer in answers)
    assert small.running.is_alive
    assert run["status"] == "done"
    assert thread.effects()["one"] <= 1
    thread.check_log()
    wait_for(lambda: taken(small.client, refused), "the thread takes a message again")
    thread.check_usable()


def taken(client: Client, thread: Thread) -> bool:
    """Return whether a message is taken now, or its run is going since then."""
    return client.post("/api/chat", thread.body("say later")).status in (202, 409)
