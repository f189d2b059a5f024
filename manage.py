#!/usr/bin/env python3
"""Django's own commands; Felix's stand behind the `felix` script."""

import os
import sys

from django.core.management import execute_from_command_line

from felix_web.cli.main import exit_code_of, say
from felix_web.common.errors import FelixError

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "felix_web.settings")
    try:
        execute_from_command_line(sys.argv)
    except FelixError as error:
        say(error)
        sys.exit(exit_code_of(error))
