"""felix up, web, worker, beat."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from felix_web.cli.database import usable_database
from felix_web.cli.setup import migrate
from felix_web.env import EnvError


def add_commands(commands: Any) -> None:
    """The parser knows the commands that serve."""
    up = commands.add_parser("up", help="web, worker and scheduler in one process, on SQLite")
    up.add_argument("--demo", action="store_true", help="leave a scripted gated run waiting")
    up.set_defaults(run=run_up)
    for name, run, meaning in (
        ("web", run_web, "the web process, on PostgreSQL and Redis"),
        ("worker", run_worker, "a worker: drives runs"),
        ("beat", run_beat, "the scheduler: one per deployment"),
    ):
        commands.add_parser(name, help=meaning).set_defaults(run=run)


def _check_bind() -> None:
    from django.conf import settings

    if settings.AUTH_MODE == "none" and not settings.IS_LOOPBACK:
        raise EnvError(
            f"FELIX_AUTH_MODE=none is refused on {settings.BIND}: it is for 127.0.0.1 alone."
        )


def run_up(arguments: argparse.Namespace) -> int:
    """Serve everything in this process until Ctrl-C."""
    from django.conf import settings

    from agents.profiles import deployment_models
    from felix_web.embedded.listening import open_listener
    from felix_web.embedded.lock import DataLock
    from felix_web.embedded.process import serve_embedded
    from felix_web.tenancy.services import create_first_operator

    if not settings.IS_EMBEDDED:
        raise EnvError("FELIX_REDIS_URL is set: start felix web, felix worker and felix beat.")
    _check_bind()
    deployment_models()
    DataLock(settings.DATA_DIR).take()
    listener = open_listener(settings.BIND, settings.PORT)
    migrate()
    _greet(create_first_operator())
    if arguments.demo:
        from felix_web.cli.demo import start_demo

        start_demo()
    serve_embedded(listener)
    return 0


def _greet(first: tuple[str, str] | None) -> None:
    """Say where Felix is, and how the first operator signs in. What is said here is true: the
    socket listens.
    """
    from django.conf import settings

    from agents.profiles import is_scripted

    host = f"[{settings.BIND}]" if ":" in settings.BIND else settings.BIND
    words = [f"Felix is on http://{host}:{settings.PORT}", f"Data: {settings.DATA_DIR}"]
    if first is not None:
        name, password = first
        words.append(f"Sign in as {name} with the one-time password {password}")
    if is_scripted():
        words.append("No model is configured: a scripted demo model answers, and says so.")
    print("\n".join(words), file=sys.stderr, flush=True)


def _production() -> None:
    """This process may serve beside others.

    Raises:
        EnvError: no Redis, no model, or a database that is behind this version.
        DatabaseUnusable: the database cannot be reached.
    """
    from django.conf import settings
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    from agents.doorbells import RedisDoorbell
    from agents.profiles import deployment_models
    from felix_web.common.doorbell import install_doorbell

    if settings.IS_EMBEDDED:
        raise EnvError("FELIX_REDIS_URL is not set: processes apart need it. Or start felix up.")
    _check_bind()
    deployment_models()
    with usable_database():
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        raise EnvError("The database is behind this version: python manage.py migrate")
    install_doorbell(RedisDoorbell())


def run_web(arguments: argparse.Namespace) -> int:
    """Serve HTTP until SIGTERM."""
    from django.conf import settings

    from agents.live.listening import hub_listener
    from felix_web.embedded.listening import open_listener
    from felix_web.embedded.process import serve_web

    _production()
    web = open_listener(settings.BIND, settings.PORT)
    listener = hub_listener()
    listener.start()
    try:
        serve_web(web)
    finally:
        listener.close()
    return 0


def run_worker(arguments: argparse.Namespace) -> int:
    """Drive runs until SIGTERM; then each ends its step and its lease is freed."""
    from django.conf import settings

    from agents.engine import engine
    from agents.worker import open_worker
    from felix_web.celery import app

    _production()
    open_worker()
    options = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=WARNING"]
    try:
        app.worker_main(
            [
                *("--quiet", "worker", "--pool=threads"),
                f"--concurrency={settings.WORKER_SLOTS}",
                *options,
            ]
        )
    finally:
        # Celery waits for its own tasks only; the sweep drives runs as well.
        engine().close()
    return 0


def run_beat(arguments: argparse.Namespace) -> int:
    """Ring for the sweep every FELIX_SWEEP_SECONDS, until SIGTERM."""
    from django.conf import settings

    from felix_web.celery import app
    from felix_web.deployment import data_folder

    _production()
    with data_folder(settings.DATA_DIR):
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    app.start(
        [
            "--quiet",
            "beat",
            "--loglevel=WARNING",
            "--pidfile=",
            f"--schedule={settings.DATA_DIR}/beat",
        ]
    )
    return 0
