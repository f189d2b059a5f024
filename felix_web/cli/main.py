"""The `felix` command. stdout carries the answer, stderr everything else.

Exit codes are decisions 2.1's.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from felix_web.common.errors import FelixError, NotFound, Unavailable
from felix_web.common.visible_text import make_visible

OK, INTERNAL, USAGE, CONFIGURATION, PROVIDER, TURN_LIMIT, DENIED, INTERRUPTED = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    130,
)

EXIT_CODES = {
    "configuration": CONFIGURATION,
    "no_models": CONFIGURATION,
    "models_invalid": CONFIGURATION,
    "already_up": CONFIGURATION,
    "provider_error": PROVIDER,
    "max_turns": TURN_LIMIT,
    "denied": DENIED,
}


def _parser() -> argparse.ArgumentParser:
    from felix_web.cli import manifests, serving, tenancy

    parser = argparse.ArgumentParser(prog="felix", description="The governed agent platform.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (serving, tenancy, manifests):
        module.add_commands(commands)
    return parser


def exit_code_of(error: FelixError) -> int:
    """Return the exit code of an error: by its code, else by its kind."""
    if error.code in EXIT_CODES:
        return EXIT_CODES[error.code]
    return INTERNAL if isinstance(error, Unavailable) else USAGE


def say(error: FelixError) -> None:
    """The error and what can be done about it stand on stderr."""
    print(make_visible(f"felix: {error.message}"), file=sys.stderr)
    if error.hint and not isinstance(error, NotFound):
        print(make_visible(f"  {error.hint}"), file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "felix_web.settings")
    arguments = _parser().parse_args(argv)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        from felix_web.cli.setup import set_up

        set_up(arguments)
        return run(arguments)
    except FelixError as error:
        say(error)
        return exit_code_of(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return OK


if __name__ == "__main__":
    sys.exit(main())
