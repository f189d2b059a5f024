"""Database URLs, made into what Django takes."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

DjangoDatabase = dict[str, Any]

SQLITE_WAIT_SECONDS = 20
POSTGRES_CONNECT_SECONDS = 10
POOL_WAIT_SECONDS = 10
POSTGRES_OPTIONS = frozenset(
    {
        "application_name",
        "connect_timeout",
        "host",
        "sslcert",
        "sslkey",
        "sslmode",
        "sslrootcert",
        "target_session_attrs",
    }
)


def database_settings(url: str, *, sqlite_synchronous: str, pool_size: int) -> DjangoDatabase:
    """Return the settings of one database.

    Raises:
        ValueError: the URL cannot be used. The message is fit to show: it never holds the password.
    """
    scheme = url.partition(":")[0].lower()
    if scheme == "sqlite":
        return _sqlite(url, sqlite_synchronous)
    if scheme in {"postgres", "postgresql"}:
        return _postgres(url, pool_size)
    raise ValueError("the URL must start with sqlite:/// or postgres://")


def _sqlite(url: str, synchronous: str) -> DjangoDatabase:
    if synchronous not in {"FULL", "NORMAL"}:
        raise ValueError("SQLite's synchronous setting must be FULL or NORMAL")
    path = unquote(url.removeprefix(url[: len("sqlite:///")])) if url[6:10] == ":///" else ""
    if not path or ":memory:" in path or "\0" in path:
        raise ValueError("SQLite needs a file: sqlite:///relative/path or sqlite:////absolute/path")
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {
            # A transaction that reads first and writes later fails at once with "locked" in the
            # default mode, whatever the timeout; taking the write lock at BEGIN makes it wait
            # instead.
            "transaction_mode": "IMMEDIATE",
            "timeout": SQLITE_WAIT_SECONDS,
            "init_command": (
                f"PRAGMA journal_mode=WAL;PRAGMA synchronous={synchronous};PRAGMA foreign_keys=ON;"
            ),
        },
    }


def _postgres(url: str, pool_size: int) -> DjangoDatabase:
    try:
        parts = urlsplit(url)
        port = parts.port
        query = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError:
        # urllib's own message repeats the text around the mistake, which may be the password.
        raise ValueError(
            "the URL cannot be read; special characters of the password must be percent-encoded"
        ) from None
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise ValueError("the URL names no database: postgres://user:password@host:port/name")
    unknown = sorted(query.keys() - POSTGRES_OPTIONS)
    if unknown:
        raise ValueError(f"the option {unknown[0]!r} is not supported")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": str(port or ""),
        "CONN_MAX_AGE": 0,
        "OPTIONS": _postgres_options(query, pool_size),
    }


def _postgres_options(query: dict[str, str], pool_size: int) -> dict[str, Any]:
    options: dict[str, Any] = {
        "application_name": "felix",
        "connect_timeout": POSTGRES_CONNECT_SECONDS,
    } | query
    if pool_size:
        options["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": POOL_WAIT_SECONDS}
    return options
