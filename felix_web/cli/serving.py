"""felix up, web, worker, beat."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from felix_web.cli.setup import migrate
from felix_web.env import EnvError


def add_commands(commands: Any) -> None:
    """The parser knows the commands that serve."""
    up = commands.add_parser("up", help="web, worker and scheduler in one process, on SQLite")
    up.add_argument("--demo", action="store_true", help="leave a scripted gated run waiting")
    up.set_defaults(run=run_up)


def _check_bind() -> None:
    from django.conf import settings

    if settings.AUTH_MODE == "none" and not settings.IS_LOOPBACK:
        raise EnvError(
            f"FELIX_AUTH_MODE=none is refused on {settings.BIND}: it is for 127.0.0.1 alone."
        )


def run_up(arguments: argparse.Namespace) -> int:
    """Serve everything in this process until Ctrl-C."""
    from django.conf import settings

    from agents.profiles import is_scripted
    from felix_web.embedded.lock import DataLock
    from felix_web.embedded.process import serve_embedded
    from felix_web.tenancy.services import create_first_operator

    if not settings.IS_EMBEDDED:
        raise EnvError("FELIX_REDIS_URL is set: start felix web, felix worker and felix beat.")
    _check_bind()
    DataLock(settings.DATA_DIR).take()
    migrate()
    first = create_first_operator()
    say = [f"Felix is on http://{settings.BIND}:{settings.PORT}", f"Data: {settings.DATA_DIR}"]
    if first is not None:
        name, password = first
        say.append(f"Sign in as {name} with the one-time password {password}")
    if is_scripted():
        say.append("No model is configured: a scripted demo model answers, and says so.")
    print("\n".join(say), file=sys.stderr, flush=True)
    if arguments.demo:
        from felix_web.cli.demo import start_demo

        start_demo()
    serve_embedded()
    return 0
