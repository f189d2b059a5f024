"""The data folder and the secret in it: used, or refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from felix_web.deployment import deployment_secret, secret_key
from felix_web.env import EnvError


def test_the_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"

    made = deployment_secret(folder)

    assert len(made) >= 32
    assert deployment_secret(folder) == made
    assert (folder / "secret_key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in folder.iterdir()] == ["secret_key"]


def test_a_data_folder_that_is_a_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()

    with pytest.raises(EnvError, match=f"FELIX_DATA_DIR: the folder {path} .*Not a directory"):
        deployment_secret(path)


def test_a_data_folder_that_cannot_be_made_is_refused_by_name() -> None:
    with pytest.raises(EnvError, match="FELIX_DATA_DIR: the folder /proc/x cannot be used"):
        deployment_secret(Path("/proc/x"))


@pytest.mark.parametrize("content", [b"", b"\n", b"short", "ä".encode() * 40])
def test_a_secret_that_was_lost_is_not_replaced_in_silence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "secret_key"
    path.write_bytes(content)

    with pytest.raises(EnvError, match="holds no key"):
        deployment_secret(tmp_path)

    assert path.read_bytes() == content


def test_a_short_secret_is_refused_and_not_shown(tmp_path: Path) -> None:
    with pytest.raises(EnvError) as caught:
        secret_key("hunter2" + " " * 40, tmp_path)

    assert "FELIX_SECRET_KEY has 7 characters" in caught.value.message
    assert "hunter2" not in caught.value.message


def test_a_secret_that_is_given_makes_no_file(tmp_path: Path) -> None:
    assert secret_key("x" * 32, tmp_path / "none") == "x" * 32
    assert not (tmp_path / "none").exists()
