"""Settings of the bare view: the same database engine and options as an instance of Felix."""

import os
from pathlib import Path

from felix_web.database_url import database_settings

SECRET_KEY = "only-for-a-benchmark"
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLED_APPS = ["benchmarks.bare"]
MIDDLEWARE: list[str] = []
ROOT_URLCONF = "benchmarks.bare.urls"
DATABASES = {
    "default": database_settings(
        f"sqlite:///{Path(os.environ['BARE_DATA_DIR']) / 'bare.sqlite3'}",
        sqlite_synchronous="FULL",
        pool_size=0,
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
