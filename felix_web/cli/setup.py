"""What every command does first: settings, logs, warnings about settings that nothing reads."""

from __future__ import annotations

import argparse
import sys

from felix_web.common.errors import Unavailable


def set_up(arguments: argparse.Namespace) -> None:
    """Django is set up and logs go to stderr.

    Raises:
        EnvError: the environment holds a setting that cannot be used.
    """
    import django

    from felix_web import env

    for unknown in env.unknown_variables():
        print(f"felix: {unknown}", file=sys.stderr)
    django.setup()


def migrate() -> None:
    """The database has this version's tables.

    Raises:
        Unavailable: it cannot be reached or written.
    """
    from django.core.management import call_command
    from django.db import Error

    try:
        call_command("migrate", interactive=False, verbosity=0)
    except Error as error:
        raise Unavailable(f"The database cannot be used: {type(error).__name__}.") from None
