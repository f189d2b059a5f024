"""`felix up`: what it says, what it refuses, and that one process owns the data."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.durability.harness import Embedded
from tests.durability.processes import FELIX, environment, felix, free_port, run

REFUSED = 3
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
