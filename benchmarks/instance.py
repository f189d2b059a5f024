"""A scratch instance with the settings of `make up`, in a data directory that goes away again."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from felix_web.tenancy.principal import Principal


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """Yield an empty data directory; it and all below is gone afterwards, also on SIGTERM."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="felix-bench-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def set_up_here(data_dir: Path) -> None:
    """Django is set up in this process on a migrated SQLite file of the data directory."""
    for name in [name for name in os.environ if name.startswith("FELIX_")]:
        del os.environ[name]
    os.environ["FELIX_DATA_DIR"] = str(data_dir)
    os.environ["FELIX_LOG_LEVEL"] = "ERROR"
    os.environ["DJANGO_SETTINGS_MODULE"] = "felix_web.settings"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", interactive=False, verbosity=0)


def operator() -> Principal:
    """Return the first operator of the instance, made where there is none."""
    from felix_web.tenancy.auth import member_principal
    from felix_web.tenancy.services import create_first_operator, member_by_name, tenant_by_slug

    create_first_operator()
    tenant = tenant_by_slug("default")
    return member_principal(member_by_name(tenant=tenant, username="operator"))


def disk_bytes(database: Path) -> int:
    """Return the size of a SQLite file once its write-ahead log is in it.

    The caller has checkpointed; what is left of the log counts too.
    """
    log = database.with_name(f"{database.name}-wal")
    return database.stat().st_size + (log.stat().st_size if log.exists() else 0)
