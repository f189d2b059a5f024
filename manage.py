#!/usr/bin/env python3
"""Django's own commands; Felix's stand behind the `felix` script."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "felix_web.settings")
    execute_from_command_line(sys.argv)
