from __future__ import annotations

import itertools
import os
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from agents.core.tools.base import EntryKind, Outcome, ToolFailed
from agents.core.tools.paths import WorkspaceScope
from agents.core.tools.workspace import DirectoryWorkspace, open_workspace
from sessions.core.states import CallStatus
from tests.unit.agents.tools.bench import Bench

REACHES: dict[str, Callable[[Bench, str], Outcome]] = {
    "read_file": lambda bench, path: bench.call("read_file", path=path),
    "write_file": lambda bench, path: bench.call("write_file", path=path, content="x"),
    "append": lambda bench, path: bench.call("write_file", path=path, content="x", append=True),
    "edit_file": lambda bench, path: bench.call(
        "edit_file", path=path, old_string="secret", new_string="x"
    ),
}
reaches = pytest.mark.parametrize("reach", REACHES.values(), ids=REACHES.keys())


@pytest.fixture
def outside(bench: Bench) -> Path:
    directory = bench.data_dir / "outside"
    directory.mkdir()
    (directory / "secret.txt").write_text("secret")
    return directory


@reaches
@pytest.mark.parametrize("path", ["../outside/secret.txt", "/etc/hosts", "a/../../ws2/x"])
def test_no_tool_reaches_a_path_that_leaves(
    bench: Bench, outside: Path, reach: Callable[[Bench, str], Outcome], path: str
) -> None:
    outcome = reach(bench, path)

    assert outcome.text.startswith("[error/invalid_arguments]")
    assert (outside / "secret.txt").read_text() == "secret"


@reaches
@pytest.mark.parametrize("path", ["link/secret.txt", "file_link", "dangling", "in_root_link"])
def test_no_tool_follows_a_symlink(
    bench: Bench, outside: Path, reach: Callable[[Bench, str], Outcome], path: str
) -> None:
    bench.put("real.txt", "secret")
    (bench.root / "link").symlink_to(outside)
    (bench.root / "file_link").symlink_to(outside / "secret.txt")
    (bench.root / "dangling").symlink_to(outside / "new.txt")
    (bench.root / "in_root_link").symlink_to("real.txt")

    outcome = reach(bench, path)

    assert outcome.text.startswith("[error/invalid_arguments]")
    assert "symlink" in outcome.text
    assert {file.name: file.read_text() for file in outside.iterdir()} == {"secret.txt": "secret"}
    assert (bench.root / "real.txt").read_text() == "secret"


@reaches
def test_special_files_are_refused_without_waiting(
    bench: Bench, reach: Callable[[Bench, str], Outcome]
) -> None:
    os.mkfifo(bench.root / "pipe")

    outcome = reach(bench, "pipe")

    assert outcome.text.startswith("[error/invalid_arguments]")
    assert "not a regular file" in outcome.text


@reaches
def test_a_directory_is_said_to_be_one(
    bench: Bench, reach: Callable[[Bench, str], Outcome]
) -> None:
    (bench.root / "dir").mkdir()

    assert "is a directory" in reach(bench, "dir").text


def test_names_that_begin_with_dots_are_ordinary(bench: Bench) -> None:
    bench.call("write_file", path="..cache/.x", content="y")

    assert (bench.root / "..cache/.x").read_text() == "y"


def test_lists_show_a_symlink_and_never_go_through_it(bench: Bench, outside: Path) -> None:
    (bench.root / "link").symlink_to(outside)
    (bench.root / "loop").symlink_to(".")

    assert '"type": "symlink"' in bench.text("list_dir")
    assert bench.text("list_files", pattern="**") == "(no files match)"
    assert bench.text("search_files", query="secret") == "(no line matches)"
    assert bench.call("list_dir", path="link").text.startswith("[error/invalid_arguments]")
    assert bench.call("list_files", path="link", pattern="*").text.startswith("[error/")


def test_a_directory_swapped_for_a_link_in_a_race_leads_nowhere(
    bench: Bench, outside: Path
) -> None:
    place, aside = bench.root / "dir", bench.data_dir / "aside"
    place.mkdir()
    aside.mkdir()
    done = threading.Event()

    def swap() -> None:
        for number in itertools.count():
            if done.is_set():
                return
            place.rename(aside / str(number))
            with suppress(FileExistsError):
                if number % 2:
                    place.symlink_to(outside)
                else:
                    place.mkdir()
                    (place / "secret.txt").write_text("inside")

    swapper = threading.Thread(target=swap)
    swapper.start()
    texts = [bench.text("read_file", path="dir/secret.txt") for _ in range(1000)]
    writes = [
        bench.call("write_file", path=path, content="mine").status
        for path in ["dir/other.txt", "dir/new/deep.txt"] * 300
    ]
    done.set()
    swapper.join()

    assert any("1\tinside" in text for text in texts)
    assert not any("1\tsecret" in text for text in texts)
    assert CallStatus.DONE in writes
    assert {file.name: file.read_text() for file in outside.iterdir()} == {"secret.txt": "secret"}


def test_an_unreachable_root_is_said_and_nothing_else_is_told(tmp_path: Path) -> None:
    gone = Bench(tmp_path / "gone")

    outcome = gone.call("read_file", path="a.txt")

    assert outcome.text == ("[error/transport_unavailable] The workspace cannot be reached now.")


@pytest.mark.parametrize("obstacle", ["file", "symlink"])
def test_a_root_that_is_no_directory_is_unreachable(tmp_path: Path, obstacle: str) -> None:
    bench = Bench(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    if obstacle == "file":
        bench.root.write_text("")
    else:
        bench.root.symlink_to(tmp_path / "elsewhere")

    outcome = bench.call("write_file", path="a.txt", content="x")

    assert outcome.text.startswith("[error/transport_unavailable]")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_directories_of_a_scope_are_made_for_their_owner_only(tmp_path: Path) -> None:
    workspace = open_workspace(tmp_path, "acme", WorkspaceScope.THREAD, "t1")

    workspace.replace("sub/a.txt", b"x")

    made = [path for path in (tmp_path / "workspaces").rglob("*") if path.is_dir()]
    outer = [tmp_path / "workspaces", *(path for path in made if path.name != "sub")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in outer} == {0o700}


def test_two_threads_of_one_tenant_do_not_see_each_other(tmp_path: Path) -> None:
    one, other = (
        open_workspace(tmp_path, "acme", WorkspaceScope.THREAD, thread) for thread in ("t1", "t2")
    )

    one.replace("a.txt", b"x")

    assert other.find("a.txt") is None


def test_what_is_at_a_path_is_told_without_following(bench: Bench) -> None:
    bench.put("d/a.txt", "abc")
    (bench.root / "link").symlink_to("d/a.txt")

    kinds = [bench.workspace.find(path) for path in ("d", "d/a.txt", "link", "none", "no/such")]

    assert [entry and entry.kind for entry in kinds] == [
        EntryKind.DIRECTORY,
        EntryKind.FILE,
        EntryKind.SYMLINK,
        None,
        None,
    ]


@pytest.mark.parametrize("name", ["dangling", "pipe", "dir"])
def test_only_a_regular_file_is_replaced(bench: Bench, outside: Path, name: str) -> None:
    (bench.root / "dangling").symlink_to(outside / "new.txt")
    (bench.root / "dir").mkdir()
    os.mkfifo(bench.root / "pipe")

    with pytest.raises(ToolFailed) as refused:
        bench.workspace.replace(name, b"x")

    assert refused.value.code == "invalid_arguments"
    assert sorted(path.name for path in bench.root.iterdir()) == ["dangling", "dir", "pipe"]
    assert not (outside / "new.txt").exists()


def test_a_tree_deeper_than_the_limit_is_reported_not_an_error(bench: Bench) -> None:
    bench.put("/".join(["d"] * 70) + "/deep.txt", "x")
    bench.put("near.txt", "x")

    text = bench.text("list_files", pattern="**")

    assert "near.txt" in text
    assert "1 directories could not be read" in text


def test_a_workspace_must_lie_below_its_data_directory(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not in the subpath"):
        DirectoryWorkspace(tmp_path / "a", base=tmp_path / "b")
