"""The environment: defaults, types, files, and mistakes that are named."""

import pytest

from felix_web import env
from felix_web.variables import KNOWN, Variable, markdown_table


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    for name in list(env.os.environ):
        if name.startswith("FELIX_"):
            monkeypatch.delenv(name)


def test_unset_and_empty_variables_have_their_defaults(monkeypatch):
    monkeypatch.setenv("FELIX_PORT", "")

    assert env.integer("FELIX_PORT") == 8000
    assert env.text("FELIX_BIND") == "127.0.0.1"
    assert env.text("FELIX_BIND", "::1") == "::1"
    assert env.number("FELIX_LEASE_SECONDS") == 8.0
    assert env.flag("FELIX_DEBUG") is False
    assert env.names("FELIX_ALLOWED_HOSTS") == []
    assert env.url("FELIX_REDIS_URL") == ""


def test_set_variables_are_read_by_their_type(monkeypatch):
    monkeypatch.setenv("FELIX_PORT", "9000")
    monkeypatch.setenv("FELIX_SWEEP_SECONDS", "0.25")
    monkeypatch.setenv("FELIX_DEBUG", "Yes")
    monkeypatch.setenv("FELIX_ALLOWED_HOSTS", " a.example, ,b.example,")
    monkeypatch.setenv("FELIX_REDIS_URL", "redis://127.0.0.1:6379/0")

    assert env.integer("FELIX_PORT") == 9000
    assert env.number("FELIX_SWEEP_SECONDS") == 0.25
    assert env.flag("FELIX_DEBUG") is True
    assert env.names("FELIX_ALLOWED_HOSTS") == ["a.example", "b.example"]
    assert env.url("FELIX_REDIS_URL") == "redis://127.0.0.1:6379/0"


@pytest.mark.parametrize(
    ("name", "value", "read", "part"),
    [
        ("FELIX_PORT", "80x", env.integer, "FELIX_PORT is '80x'; it must be a whole number from 1"),
        ("FELIX_PORT", "70000", env.integer, "from 1 to 65535"),
        ("FELIX_LEASE_SECONDS", "nan", env.number, "a number from 0.5 to 3600"),
        ("FELIX_LEASE_SECONDS", "soon", env.number, "'soon'"),
        ("FELIX_DEBUG", "maybe", env.flag, "1 or 0"),
        ("FELIX_AUTH_MODE", "nobody", env.text, "one of key, none"),
        ("FELIX_REDIS_URL", "http://h", env.url, "redis://host:port"),
        ("FELIX_OPENAI_BASE_URL", "http://[x", env.url, "https://host:port"),
        ("FELIX_PORT", "\x1b[2J", env.integer, r"'\\x1b\[2J'"),
    ],
)
def test_an_unusable_value_is_named_with_what_is_needed(monkeypatch, name, value, read, part):
    monkeypatch.setenv(name, value)

    with pytest.raises(env.EnvError, match=part):
        read(name)


def test_the_value_of_a_secret_is_not_repeated(monkeypatch):
    monkeypatch.setenv("FELIX_REDIS_URL", "http://:hunter2@h")

    with pytest.raises(env.EnvError) as caught:
        env.url("FELIX_REDIS_URL")

    assert "hunter2" not in str(caught.value)


def test_a_file_twin_gives_the_value_without_its_line_end(monkeypatch, tmp_path):
    (tmp_path / "key").write_text("  s3cret \n")
    monkeypatch.setenv("FELIX_SECRET_KEY_FILE", str(tmp_path / "key"))

    assert env.text("FELIX_SECRET_KEY") == "  s3cret "


def test_a_variable_and_its_file_together_are_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("FELIX_SECRET_KEY", "a")
    monkeypatch.setenv("FELIX_SECRET_KEY_FILE", str(tmp_path / "key"))

    with pytest.raises(env.EnvError, match="Both FELIX_SECRET_KEY and FELIX_SECRET_KEY_FILE"):
        env.text("FELIX_SECRET_KEY")


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (None, "cannot be read: No such file"),
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"\xff", "not UTF-8"),
        (b"a" * 65_537, "larger than 65536 bytes"),
    ],
)
def test_a_file_that_gives_no_value_is_a_loud_error(monkeypatch, tmp_path, content, part):
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv("FELIX_SECRET_KEY_FILE", str(path))

    with pytest.raises(env.EnvError, match=f"FELIX_SECRET_KEY_FILE: .*{part}"):
        env.text("FELIX_SECRET_KEY")


def test_a_variable_that_is_not_in_the_table_cannot_be_read():
    with pytest.raises(env.EnvError, match="missing from the table"):
        env.text("FELIX_NOWHERE")


def test_unknown_variables_are_told_with_the_nearest_known_one(monkeypatch):
    monkeypatch.setenv("FELIX_PROT", "1")
    monkeypatch.setenv("FELIX_SECRET_KEY_FILE", "/k")
    monkeypatch.setenv("FELIX_DATA_DRI", "/d")

    assert [str(found) for found in env.unknown_variables()] == [
        "FELIX_DATA_DRI is not a setting of Felix and is ignored; did you mean FELIX_DATA_DIR?",
        "FELIX_PROT is not a setting of Felix and is ignored; did you mean FELIX_PORT?",
    ]


def test_the_table_for_people_names_every_variable():
    rows = markdown_table().splitlines()[2:]

    assert [row.split("`")[1] for row in rows] == list(KNOWN)


def test_every_default_is_a_value_that_is_accepted():
    readers = {"PORT": env.integer, "SLOTS": env.integer, "POOL": env.integer}
    readers |= {"SECONDS": env.number, "DEBUG": env.flag, "HTTPS": env.flag}

    for name in KNOWN:
        readers.get(name.rpartition("_")[2], env.text)(name)


def test_sqlite_waits_for_its_lock_and_keeps_what_it_acknowledged():
    found = env.database("sqlite:///var/my%20data.db")

    assert found["NAME"] == "var/my data.db"
    assert found["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert found["OPTIONS"]["timeout"] == 20
    assert "synchronous=FULL" in found["OPTIONS"]["init_command"]
    assert env.database("sqlite:////data/f.db")["NAME"] == "/data/f.db"


def test_without_a_url_the_database_is_a_file_in_the_data_folder(monkeypatch):
    monkeypatch.setenv("FELIX_DATA_DIR", "/srv/felix")

    assert env.database("", sqlite_synchronous="NORMAL")["NAME"] == "/srv/felix/felix.sqlite3"


def test_a_postgres_url_is_taken_apart():
    found = env.database("postgres://ana:p%40ss@db:5433/felix?sslmode=require", pool_size=5)

    parts = [found[name] for name in ("USER", "PASSWORD", "HOST", "PORT", "NAME")]
    assert parts == ["ana", "p@ss", "db", "5433", "felix"]
    assert found["CONN_MAX_AGE"] == 0
    assert found["OPTIONS"]["sslmode"] == "require"
    assert found["OPTIONS"]["pool"]["max_size"] == 5


def test_a_socket_folder_is_a_host():
    found = env.database("postgresql://ana@/felix?host=/run/postgresql")

    assert (found["HOST"], found["PORT"]) == ("/run/postgresql", "")


@pytest.mark.parametrize(
    "url",
    [
        "mysql://h/d",
        "sqlite://:memory:",
        "sqlite:///:memory:",
        "sqlite:///",
        "postgres://ana:hunter2@db",
        "postgres://ana:hunter2@db:port/felix",
        "postgres://ana:hun/ter2[@db/felix",
        "postgres://ana:hunter2@db/felix?sslmode",
        "postgres://ana:hunter2@db/felix?passfile=/x",
    ],
)
def test_a_database_url_that_cannot_be_used_is_refused_without_repeating_it(url):
    with pytest.raises(env.EnvError, match="FELIX_DATABASE_URL") as caught:
        env.database(url)

    assert "ter2" not in str(caught.value)


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_a_number_without_bounds_is_finite_all_the_same(value):
    assert Variable("FELIX_X", "0", "").admits(1e300)
    assert not Variable("FELIX_X", "0", "").admits(value)
