"""What every command does first: settings, logs, warnings about settings that nothing reads."""

from __future__ import annotations

import argparse
import fcntl
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from felix_web.cli.database import check_data_exists, usable_database


def set_up(arguments: argparse.Namespace) -> None:
    """Django is set up and logs go to stderr.

    Raises:
        EnvError: the environment holds a setting that cannot be used, or the command changes data
            and there is none.
    """
    import django
    from django.apps import apps

    from felix_web import env

    for unknown in env.unknown_variables():
        print(f"felix: {unknown}", file=sys.stderr)
    # Before Django's settings are read, which make the data folder. A caller that has Django set up
    # has chosen its database already.
    if getattr(arguments, "needs_data", False) and not apps.ready:
        check_data_exists()
    django.setup()


@contextmanager
def _alone() -> Iterator[None]:
    """Let one process of this machine at a time bring a database up to date.

    A command may run while `felix up` starts for the first time.
    """
    from django.conf import settings

    settings.DATA_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (settings.DATA_DIR / "migrate.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def migrate() -> None:
    """The database has this version's tables.

    Raises:
        EnvError, DatabaseUnusable: as `usable_database`.
    """
    from django.core.management import call_command

    with _alone(), usable_database():
        call_command("migrate", interactive=False, verbosity=0)
