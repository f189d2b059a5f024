"""`felix up`: what it says, what it refuses, and that one process owns the data."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.durability.harness import Embedded
from tests.durability.processes import FELIX, environment, felix, free_port, run

INTERNAL, USAGE, REFUSED = 1, 2, 3
MODEL = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "m"}
PASSWORD = re.compile(r"one-time password (\S+)")


def refusal(tmp_path: Path, **settings: str) -> str:
    """Return what a `felix up` said that was refused for its configuration."""
    data_dir = str(tmp_path / "data")
    env = environment(DATA_DIR=data_dir, PORT=str(free_port()), **settings)
    code, _, complaint = run(str(FELIX), "up", env=env)
    assert code == REFUSED, complaint
    assert "Traceback" not in complaint
    return complaint


def test_a_second_process_on_the_same_data_is_refused_and_told_whose_it_is(
    shared: Embedded,
) -> None:
    env = {**shared.env, "FELIX_PORT": str(free_port())}

    code, said, complaint = run(str(FELIX), "up", env=env)

    assert (code, said) == (REFUSED, "")
    assert f"pid {shared.running.pid}" in complaint
    assert shared.client.ask("GET", "/live").status == 200


def test_the_first_start_tells_address_and_password_and_no_later_one_tells_the_password(
    own: Callable[..., Embedded],
) -> None:
    instance = own()

    instance.start()
    first = instance.running.output
    instance.kill()
    instance.start()
    second = instance.running.output

    assert f"http://127.0.0.1:{instance.port}" in first
    assert str(instance.data_dir) in first
    assert len(PASSWORD.findall(first)) == 1
    assert f"http://127.0.0.1:{instance.port}" in second
    assert PASSWORD.findall(second) == []


def test_a_key_made_while_it_runs_opens_the_door_at_once_and_is_stored_as_a_digest(
    shared: Embedded,
) -> None:
    options = ("--tenant", "default", "--name", "made-meanwhile", "--scopes", "*")

    secret = felix("key", "create", *options, env=shared.env)

    client = shared.client
    client.key = secret
    assert re.fullmatch(r"fx_\S+", secret)
    assert client.ask("GET", "/api/chat/sessions").status == 200
    with sqlite3.connect(shared.data_dir / "felix.sqlite3") as database:
        dump = "\n".join(database.iterdump())
    database.close()
    assert secret not in dump


def test_a_mistyped_setting_is_named_with_the_one_that_was_meant(tmp_path: Path) -> None:
    said = refusal(tmp_path, LEASE_SECOND="3", AUTH_MODE="none", BIND="0.0.0.0")

    assert "FELIX_LEASE_SECOND is not a setting of Felix" in said
    assert "did you mean FELIX_LEASE_SECONDS?" in said


def test_entry_for_everyone_is_refused_where_others_can_connect(tmp_path: Path) -> None:
    said = refusal(tmp_path, AUTH_MODE="none", BIND="0.0.0.0")

    assert "FELIX_AUTH_MODE=none is refused on 0.0.0.0" in said


def test_a_start_without_a_model_is_refused_where_others_can_connect(tmp_path: Path) -> None:
    said = refusal(tmp_path, BIND="0.0.0.0")

    assert "No model is configured" in said
    assert "FELIX_OPENAI_BASE_URL" in said


@pytest.mark.parametrize(
    ("name", "value"), [("LEASE_SECONDS", "soon"), ("PORT", "0"), ("DATABASE_URL", "mysql://x/y")]
)
def test_a_setting_that_cannot_be_used_is_refused_by_name(
    tmp_path: Path, name: str, value: str
) -> None:
    env = environment(**{"DATA_DIR": str(tmp_path / "data"), name: value})

    code, _, complaint = run(str(FELIX), "up", env=env)

    assert code == REFUSED
    assert f"FELIX_{name}" in complaint
    assert "Traceback" not in complaint


def test_a_port_in_use_is_refused_before_anybody_is_told_a_password(
    tmp_path: Path, shared: Embedded
) -> None:
    env = environment(DATA_DIR=str(tmp_path / "data"), PORT=str(shared.port))

    code, said, complaint = run(str(FELIX), "up", env=env)

    assert (code, said) == (REFUSED, "")
    assert f"Felix cannot listen on 127.0.0.1:{shared.port}" in complaint
    assert PASSWORD.findall(complaint) == []
    assert not (tmp_path / "data" / "felix.sqlite3").exists()


def test_an_address_of_another_machine_is_refused(tmp_path: Path) -> None:
    said = refusal(tmp_path, BIND="192.0.2.1", **MODEL)

    assert "Felix cannot listen on 192.0.2.1" in said


@pytest.mark.parametrize("place", ["/proc/x", "/dev/null"])
def test_a_data_folder_that_cannot_be_one_is_refused_in_a_sentence(place: str) -> None:
    code, _, complaint = run(str(FELIX), "up", env=environment(DATA_DIR=place))

    assert code == REFUSED
    assert f"FELIX_DATA_DIR: the folder {place} cannot be used" in complaint
    assert "Traceback" not in complaint


def test_a_database_file_that_is_none_is_refused_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "data" / "felix.sqlite3"
    path.parent.mkdir()
    path.write_bytes(b"this is no database" * 100)

    said = refusal(tmp_path)

    assert f"FELIX_DATA_DIR: the database {path} cannot be used: it is no SQLite database" in said


def test_a_short_secret_is_refused_and_not_repeated(tmp_path: Path) -> None:
    said = refusal(tmp_path, SECRET_KEY="hunter2")

    assert "FELIX_SECRET_KEY has 7 characters" in said
    assert "hunter2" not in said


def test_a_models_file_that_is_wrong_is_named_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "data" / "models.yaml"
    path.parent.mkdir()
    path.write_text("models: 5\n")

    said = refusal(tmp_path)

    assert f"{path}: providers: must name at least one entry" in said
    assert "FELIX_MODELS_FILE" not in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("tenant", "create", "acme"),
        ("user", "create", "ana", "--tenant", "default", "--role", "viewer"),
        ("user", "password", "operator"),
        ("key", "create", "--tenant", "default", "--name", "k"),
        ("manifest", "put", "scribe.yaml"),
    ],
)
def test_a_command_in_the_wrong_folder_says_so_and_makes_nothing(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    folder = tmp_path / "wrong"

    code, said, complaint = run(str(FELIX), *arguments, env=environment(DATA_DIR=str(folder)))

    assert (code, said) == (REFUSED, "")
    assert f"There is no data in {folder}; is FELIX_DATA_DIR right?" in complaint
    assert not folder.exists()


def test_a_lost_password_is_printed_anew_while_it_runs(own: Callable[..., Embedded]) -> None:
    instance = own()
    instance.start()
    first = PASSWORD.findall(instance.running.output)[0]

    password = felix("user", "password", "operator", env=instance.env)

    assert re.fullmatch(r"(\w{4}-){3}\w{4}", password)
    assert password != first


def test_a_database_server_that_is_away_is_named_without_the_password(tmp_path: Path) -> None:
    port = free_port()
    url = f"postgres://felix:hunter2@127.0.0.1:{port}/felix"
    env = environment(DATA_DIR=str(tmp_path), DATABASE_URL=url)

    code, _, complaint = run(str(FELIX), "tenant", "create", "acme", env=env)

    assert code == INTERNAL
    assert f"The database felix at 127.0.0.1:{port} cannot be used" in complaint
    assert "FELIX_DATABASE_URL" in complaint
    assert "hunter2" not in complaint
    assert "Traceback" not in complaint


@pytest.mark.parametrize(
    ("name", "said"),
    [("none.yaml", "There is no file"), (".", "Is a directory"), ("latin", "is not UTF-8 text")],
)
def test_a_manifest_file_that_cannot_be_read_is_told_why(
    tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "latin").write_bytes(b"\xff\xfe")
    env = environment(DATA_DIR=str(tmp_path / "data"))

    code, _, complaint = run(str(FELIX), "manifest", "check", str(tmp_path / name), env=env)

    assert code == USAGE
    assert said in complaint


def test_the_one_process_is_refused_beside_a_redis_and_the_web_process_without_one(
    tmp_path: Path,
) -> None:
    said = refusal(tmp_path, REDIS_URL="redis://127.0.0.1:1/0")
    code, _, complaint = run(str(FELIX), "web", env=environment(DATA_DIR=str(tmp_path / "data")))

    assert "felix web, felix worker and felix beat" in said
    assert code == REFUSED
    assert "FELIX_REDIS_URL is not set" in complaint


def test_a_web_process_on_a_database_that_is_behind_is_refused_with_what_to_do(
    tmp_path: Path, shared: Embedded
) -> None:
    settings = {"FELIX_DATA_DIR": str(tmp_path), "FELIX_REDIS_URL": "redis://127.0.0.1:1/0"}

    code, _, complaint = run(str(FELIX), "web", env={**shared.env, **settings})

    assert code == REFUSED
    assert "manage.py migrate" in complaint
