"""The database as a command finds it, in words for whoever runs the command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from felix_web import env
from felix_web.common.errors import FelixError, Unavailable
from felix_web.env import EnvError

SQLITE = "django.db.backends.sqlite3"
SQLITE_REASONS = {
    "SQLITE_CANTOPEN": "it cannot be opened",
    "SQLITE_READONLY": "it cannot be written",
    "SQLITE_NOTADB": "it is no SQLite database",
    "SQLITE_CORRUPT": "it is damaged",
    "SQLITE_FULL": "there is no space left",
    "SQLITE_IOERR": "it cannot be read or written",
}


class DatabaseUnusable(Unavailable):
    """The database cannot be used now."""

    code: ClassVar[str] = "database_unusable"
    hint = "See that it runs and that FELIX_DATABASE_URL names it, its user and its password."


class DatabaseBusy(Unavailable):
    """Another process holds the database."""

    code: ClassVar[str] = "database_busy"
    hint = "Try again once the other process has ended its work."


def check_data_exists() -> None:
    """A database is there for a command that changes data; nothing is made.

    Raises:
        EnvError: SQLite has no file; most likely the command runs in the wrong folder.
    """
    settings = env.database(env.text("FELIX_DATABASE_URL"))
    if settings["ENGINE"] != SQLITE:
        return
    path = Path(settings["NAME"]).absolute()
    if not path.is_file():
        raise EnvError(f"There is no data in {path.parent}; is {_setting()} right?")


def _setting() -> str:
    return "FELIX_DATABASE_URL" if env.text("FELIX_DATABASE_URL") else "FELIX_DATA_DIR"


@contextmanager
def usable_database() -> Iterator[None]:
    """What the database refuses inside is told with its place and without the driver's words.

    Raises:
        EnvError: SQLite's file cannot be used.
        DatabaseBusy, DatabaseUnusable: as they say.
    """
    from django.conf import settings
    from django.db import Error

    try:
        yield
    except Error as error:
        raise _told(error, settings.DATABASES["default"]) from None


def _told(error: Exception, settings: Mapping[str, Any]) -> FelixError:
    if settings["ENGINE"] != SQLITE:
        where = f"{settings['HOST'] or 'the local socket'}:{settings['PORT'] or 5432}"
        name = f"The database {settings['NAME']} at {where}"
        return DatabaseUnusable(f"{name} cannot be used: {type(error).__name__}.")
    cause = str(getattr(error.__cause__, "sqlite_errorname", ""))
    found = [words for code, words in SQLITE_REASONS.items() if cause.startswith(code)]
    if cause.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return DatabaseBusy(f"Another process holds {settings['NAME']}.")
    reason = found[0] if found else type(error).__name__
    return EnvError(f"{_setting()}: the database {settings['NAME']} cannot be used: {reason}.")
