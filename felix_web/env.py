"""The environment, read: typed, loud about mistakes, and nowhere else.

Every `FELIX_*` variable stands in `felix_web.variables.KNOWN` with its kind, default and meaning.
An empty variable counts as unset. `NAME_FILE` names a file that holds the value of `NAME`
(container secrets); setting both is an error.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from felix_web.common.errors import FelixError
from felix_web.common.nearest import nearest
from felix_web.database_url import DjangoDatabase, database_settings
from felix_web.variables import KNOWN, Variable

__all__ = [
    "KNOWN",
    "EnvError",
    "UnknownVariable",
    "database",
    "flag",
    "integer",
    "names",
    "number",
    "text",
    "unknown_variables",
    "url",
]

PREFIX = "FELIX_"
TWIN = "_FILE"
LARGEST_FILE_BYTES = 65_536
TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})


class EnvError(FelixError):
    """The environment holds a setting that Felix cannot use."""

    code = "configuration"
    title = "Configuration error"
    hint = "The table of variables in README.md says what each one takes."


class UnknownVariable(NamedTuple):
    """A FELIX_ variable that nothing reads."""

    name: str
    nearest: str | None

    def __str__(self) -> str:
        meant = f"; did you mean {self.nearest}?" if self.nearest else ""
        return f"{self.name} is not a setting of Felix and is ignored{meant}"


def text(name: str, default: str | None = None) -> str:
    """Return the variable's value, or the default given, or the one in `KNOWN`.

    Raises:
        EnvError: the value is none of the variable's choices, or its file cannot be read.
    """
    variable = _variable(name)
    value = _raw(variable)
    if value is None:
        return variable.default if default is None else default
    if variable.choices and value not in variable.choices:
        raise _unusable(variable, value, f"one of {', '.join(variable.choices)}")
    return value


def integer(name: str) -> int:
    """Return the variable as a whole number inside its range.

    Raises:
        EnvError: it is no whole number or lies outside the range.
    """
    variable = _variable(name)
    value = text(name)
    try:
        result = int(value)
    except ValueError:
        raise _unusable(variable, value, f"a whole number{variable.range_words()}") from None
    if not variable.admits(result):
        raise _unusable(variable, value, f"a whole number{variable.range_words()}")
    return result


def number(name: str) -> float:
    """Return the variable as a finite number inside its range.

    Raises:
        EnvError: it is no number, not finite, or lies outside the range.
    """
    variable = _variable(name)
    value = text(name)
    try:
        result = float(value)
    except ValueError:
        raise _unusable(variable, value, f"a number{variable.range_words()}") from None
    if not variable.admits(result):
        raise _unusable(variable, value, f"a number{variable.range_words()}")
    return result


def flag(name: str) -> bool:
    """Return True for 1, true, yes or on and False for 0, false, no or off, in any letter case.

    Raises:
        EnvError: the value is none of these words; a mistyped switch is never taken for off.
    """
    value = text(name)
    word = value.strip().lower()
    if word in TRUE_WORDS or word in FALSE_WORDS:
        return word in TRUE_WORDS
    raise _unusable(_variable(name), value, "1 or 0")


def names(name: str) -> list[str]:
    """Return the comma-separated entries of the variable, trimmed, empty ones left out."""
    return [entry for part in text(name).split(",") if (entry := part.strip())]


def url(name: str) -> str:
    """Return the variable's URL, or "" where it is not set.

    Raises:
        EnvError: the scheme is none of the variable's, or there is no host.
    """
    variable = _variable(name)
    value = text(name)
    if not value:
        return ""
    needed = f"a URL such as {variable.schemes[0]}://host:port"
    try:
        parts = urlsplit(value)
        is_usable = parts.scheme in variable.schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise _unusable(variable, value, needed) from None
    if not is_usable:
        raise _unusable(variable, value, needed)
    return value


def database(url: str, *, sqlite_synchronous: str = "FULL", pool_size: int = 0) -> DjangoDatabase:
    """Return Django's `DATABASES["default"]` for the URL.

    Args:
        url: `sqlite:///path` or `postgres://user:password@host:port/name`. Empty means
            `felix.sqlite3` in `FELIX_DATA_DIR`.
        sqlite_synchronous: SQLite's durability, `FULL` or `NORMAL`.
        pool_size: Most PostgreSQL connections that this process keeps in a pool; 0 means no pool.

    Raises:
        EnvError: the URL cannot be used; the message names the part, never the password.
    """
    url = url or f"sqlite:///{Path(text('FELIX_DATA_DIR')).absolute() / 'felix.sqlite3'}"
    try:
        return database_settings(url, sqlite_synchronous=sqlite_synchronous, pool_size=pool_size)
    except ValueError as problem:
        raise EnvError(f"FELIX_DATABASE_URL: {problem}", variable="FELIX_DATABASE_URL") from None


def unknown_variables() -> list[UnknownVariable]:
    """Return the FELIX_ variables that are set and that nothing reads, in order of their names."""
    known = {spelling for variable in KNOWN.values() for spelling in _spellings(variable)}
    given = sorted(name for name in os.environ if name.startswith(PREFIX))
    return [UnknownVariable(name, nearest(name, known)) for name in given if name not in known]


def _spellings(variable: Variable) -> list[str]:
    return [variable.name, variable.name + TWIN] if variable.has_twin else [variable.name]


def _variable(name: str) -> Variable:
    try:
        return KNOWN[name]
    except KeyError:
        raise EnvError(f"{name} is read by the code but is missing from the table KNOWN.") from None


def _raw(variable: Variable) -> str | None:
    value = os.environ.get(variable.name, "")
    path = os.environ.get(variable.name + TWIN, "") if variable.has_twin else ""
    if value and path:
        raise EnvError(
            f"Both {variable.name} and {variable.name}{TWIN} are set; unset one of them.",
            variable=variable.name,
        )
    if path:
        return _from_file(variable.name + TWIN, Path(path))
    return value or None


def _from_file(name: str, path: Path) -> str:
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE_BYTES + 1)
        value = data.decode("utf-8").rstrip("\r\n")
    except OSError as problem:
        reason = problem.strerror or "cannot be read"
        raise EnvError(
            f"{name}: the file {path} cannot be read: {reason}.", variable=name
        ) from None
    except UnicodeDecodeError:
        raise EnvError(f"{name}: the file {path} is not UTF-8 text.", variable=name) from None
    if not value or len(data) > LARGEST_FILE_BYTES:
        size = "is empty" if not value else f"is larger than {LARGEST_FILE_BYTES} bytes"
        raise EnvError(f"{name}: the file {path} {size}.", variable=name)
    return value


def _unusable(variable: Variable, value: str, needed: str) -> EnvError:
    shown = "a value that is not shown" if variable.is_secret else ascii(value[:80])
    return EnvError(f"{variable.name} is {shown}; it must be {needed}.", variable=variable.name)
