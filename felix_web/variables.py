"""The table of every environment variable that Felix reads."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Variable:
    """One setting: what it is called, what it means and what it takes.

    `default` is text as it would stand in the environment; "" means not set. `default_words` says
    in the README what an unset variable comes to, where the default text does not.
    """

    name: str
    default: str
    doc: str
    choices: tuple[str, ...] = ()
    schemes: tuple[str, ...] = ()
    minimum: float = -math.inf
    maximum: float = math.inf
    is_secret: bool = False
    has_twin: bool = True
    default_words: str = ""

    def admits(self, value: float) -> bool:
        """Return whether the number is finite and inside the range, both ends included."""
        return math.isfinite(value) and self.minimum <= value <= self.maximum

    def range_words(self) -> str:
        """Return the range as it stands in a sentence, or nothing where there is none."""
        if math.isfinite(self.minimum) and math.isfinite(self.maximum):
            return f" from {self.minimum:g} to {self.maximum:g}"
        return f" of at least {self.minimum:g}" if math.isfinite(self.minimum) else ""


_TABLE = (
    Variable("FELIX_BIND", "127.0.0.1", "Address that the web server listens on."),
    Variable(
        "FELIX_HTTPS",
        "0",
        "Behind a proxy that speaks HTTPS: cookies are Secure, its X-Forwarded-Proto counts.",
    ),
    Variable(
        "FELIX_PORT", "8000", "Port that the web server listens on.", minimum=1, maximum=65535
    ),
    Variable(
        "FELIX_DATA_DIR",
        "var",
        "Folder of the SQLite file, the workspaces, the secret key and `models.yaml`.",
        has_twin=False,
    ),
    Variable(
        "FELIX_DATABASE_URL",
        "",
        "`sqlite:///path` or `postgres://user:password@host:port/name`.",
        is_secret=True,
        default_words="`felix.sqlite3` in the data folder",
    ),
    Variable(
        "FELIX_DATABASE_POOL",
        "0",
        "Most PostgreSQL connections that one process keeps in a pool; 0 = no pool.",
        minimum=0,
        maximum=1000,
    ),
    Variable(
        "FELIX_SQLITE_SYNCHRONOUS",
        "FULL",
        "`FULL`: writes survive a power loss; `NORMAL`: faster, they survive a crash only.",
        choices=("FULL", "NORMAL"),
    ),
    Variable(
        "FELIX_REDIS_URL",
        "",
        "Redis for the broker and the live updates of more than one process.",
        schemes=("redis", "rediss"),
        is_secret=True,
        default_words="none: one process does it all",
    ),
    Variable(
        "FELIX_AUTH_MODE",
        "key",
        "`key`: a key or a sign-in is needed; `none`: everyone may enter, on loopback only.",
        choices=("key", "none"),
    ),
    Variable(
        "FELIX_SECRET_KEY",
        "",
        "Signs sessions and forms; the same in every process, at least 32 random characters.",
        is_secret=True,
        default_words="made at first start, kept in the data folder",
    ),
    Variable(
        "FELIX_ALLOWED_HOSTS",
        "",
        "Host names that the server answers to besides loopback, separated by commas.",
        default_words="loopback only",
    ),
    Variable(
        "FELIX_MODELS_FILE",
        "",
        "YAML file of the model profiles.",
        has_twin=False,
        default_words="`models.yaml` in the data folder",
    ),
    Variable(
        "FELIX_OPENAI_BASE_URL",
        "",
        "Address of an OpenAI-compatible server, without a models file.",
        schemes=("https", "http"),
    ),
    Variable("FELIX_OPENAI_API_KEY", "", "Key for that server.", is_secret=True),
    Variable("FELIX_OPENAI_MODEL", "", "Model to ask that server for."),
    Variable(
        "FELIX_LEASE_SECONDS",
        "8",
        "How long a run stays with a worker that has stopped renewing it.",
        minimum=0.5,
        maximum=3600,
    ),
    Variable(
        "FELIX_SWEEP_SECONDS",
        "1",
        "How often runs without a worker are looked for.",
        minimum=0.05,
        maximum=3600,
    ),
    Variable(
        "FELIX_WORKER_SLOTS",
        "64",
        "Runs that one worker process drives at a time.",
        minimum=1,
        maximum=10_000,
    ),
    Variable(
        "FELIX_DEPLOYMENT_SCOPE_TENANTS",
        "",
        "Tenants whose admins hold the scopes of the whole deployment, separated by commas.",
        default_words="none",
    ),
    Variable(
        "FELIX_LOG_FORMAT",
        "auto",
        "`json` lines, `text` for people, `auto`: text on a terminal, else JSON lines.",
        choices=("auto", "json", "text"),
    ),
    Variable(
        "FELIX_LOG_LEVEL",
        "INFO",
        "Least level that is logged.",
        choices=("DEBUG", "INFO", "WARNING", "ERROR"),
    ),
    Variable("FELIX_DEBUG", "0", "Django's debug pages; refused unless bound to loopback."),
    Variable(
        "FELIX_FAULT",
        "",
        "Point of the code at which this process kills itself; for crash tests only.",
        default_words="none",
    ),
)

KNOWN: dict[str, Variable] = {variable.name: variable for variable in _TABLE}


def markdown_table() -> str:
    """Return the table of variables as README.md holds it."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    for variable in _TABLE:
        default = variable.default_words or (f"`{variable.default}`" if variable.default else "")
        lines.append(f"| `{variable.name}` | {default} | {variable.doc} |")
    return "\n".join(lines) + "\n"
