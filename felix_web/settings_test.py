"""Settings of the test suite: only what must differ."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

if "FELIX_DATA_DIR" not in os.environ:
    os.environ["FELIX_DATA_DIR"] = tempfile.mkdtemp(prefix="felix-test-")
    atexit.register(shutil.rmtree, os.environ["FELIX_DATA_DIR"], ignore_errors=True)

from felix_web.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
