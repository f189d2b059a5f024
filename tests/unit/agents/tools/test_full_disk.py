"""A disk that is really full: a file system of a limited size, mounted for the test."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.agents.tools.bench import Bench

SIZE = 256 * 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Bench]:
    mount, umount = shutil.which("mount"), shutil.which("umount")
    assert mount, "this test needs mount"
    assert umount, "this test needs umount"
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run([mount, "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", disk], check=True)
    try:
        bench = Bench(disk)
        bench.root.mkdir()
        yield bench
    finally:
        subprocess.run([umount, disk], check=True)


def test_a_write_to_a_full_disk_leaves_the_old_file_and_nothing_else(small_disk: Bench) -> None:
    small_disk.call("write_file", path="f", content="old\n" * 25_000)
    before = small_disk.snapshot()

    text = small_disk.text("write_file", path="f", content="new\n" * 50_000)

    assert text == (
        '[error/no_space] There is no space left in the workspace; "f" was not changed.'
    )
    assert small_disk.snapshot() == before


def test_a_new_file_on_a_full_disk_leaves_nothing(small_disk: Bench) -> None:
    text = small_disk.text("write_file", path="new", content="x" * 400_000)

    assert text.startswith("[error/no_space]")
    assert small_disk.snapshot() == {}


def test_an_edit_on_a_full_disk_changes_nothing(small_disk: Bench) -> None:
    small_disk.put("f", "a" + "." * 150_000)
    before = small_disk.snapshot()

    text = small_disk.text("edit_file", path="f", old_string="a", new_string="b")

    assert text.startswith("[error/no_space]")
    assert small_disk.snapshot() == before


def test_a_disk_with_space_again_takes_the_write(small_disk: Bench) -> None:
    ballast = small_disk.put("ballast", "x" * 200_000)
    args = {"path": "f", "content": "y" * 100_000}
    assert small_disk.text("write_file", **args).startswith("[error/no_space]")

    ballast.unlink()

    assert small_disk.text("write_file", **args).startswith("Created f")
