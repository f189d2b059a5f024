"""Settings of the test suite: only what must differ."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

if "FELIX_DATA_DIR" not in os.environ:
    os.environ["FELIX_DATA_DIR"] = tempfile.mkdtemp(prefix="felix-test-")
    atexit.register(shutil.rmtree, os.environ["FELIX_DATA_DIR"], ignore_errors=True)

os.environ.setdefault("FELIX_SQLITE_SYNCHRONOUS", "NORMAL")

from felix_web.settings import *  # noqa: F403
from felix_web.settings import DATA_DIR, DATABASES

if "sqlite3" in DATABASES["default"]["ENGINE"]:
    # In memory SQLite knows no readers beside a writer.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
