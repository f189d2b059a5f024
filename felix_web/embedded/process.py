"""The embedded process.

Web, worker and scheduler in one, on SQLite, without Redis (decisions 2.1, 3.7).
"""

from __future__ import annotations

import logging
import signal
import threading
from typing import Any

from django.conf import settings
from django.db import Error, close_old_connections

log = logging.getLogger(__name__)


def _worker_class() -> type[Any]:
    from celery.apps.worker import Worker

    class EmbeddedWorker(Worker):  # type: ignore[misc]
        """A Celery worker that lives on a thread.

        Signal handlers belong to the main thread, which has its own.
        """

        def on_before_init(self, quiet: bool = False, **kwargs: Any) -> None:
            """Leave signals and logging alone."""

        def on_start(self) -> None:
            """Print no banner."""

        def install_platform_tweaks(self, worker: Any) -> None:
            """Install no handlers."""

    return EmbeddedWorker


class WorkerThread(threading.Thread):
    """The worker: takes doorbell messages and gives runs to the engine."""

    def __init__(self) -> None:
        super().__init__(name="felix-worker", daemon=True)
        from felix_web.celery import app

        app.set_current()
        self._worker = _worker_class()(
            app=app,
            pool="threads",
            concurrency=settings.WORKER_SLOTS,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
            loglevel="WARNING",
        )

    def run(self) -> None:
        """Work until the process ends."""
        self._worker.start()

    def stop(self) -> None:
        """Take no more messages."""
        self._worker.stop(in_sighandler=True)


class SweepThread(threading.Thread):
    """The scheduler: sweeps every `FELIX_SWEEP_SECONDS`."""

    def __init__(self) -> None:
        super().__init__(name="felix-sweep", daemon=True)
        self._closing = threading.Event()

    def run(self) -> None:
        """Sweep until `stop`."""
        from agents.services.sweeping import sweep

        while not self._closing.wait(settings.SWEEP_SECONDS):
            try:
                sweep()
            except Error as error:
                log.warning("sweep_failed", extra={"error": type(error).__name__})
                close_old_connections()

    def stop(self) -> None:
        """The thread ends after the sweep under way."""
        self._closing.set()


def serve_embedded() -> None:
    """Serve until SIGINT or SIGTERM; then runs end their step and their leases are freed.

    The caller has taken the data directory's lock and migrated the database.
    """
    from agents.doorbells import EmbeddedDoorbell
    from agents.engine import engine
    from agents.profiles import deployment_models
    from felix_web.common.doorbell import install_doorbell

    deployment_models()
    install_doorbell(EmbeddedDoorbell())
    engine()
    worker, sweeper = WorkerThread(), SweepThread()
    worker.start()
    sweeper.start()
    try:
        serve_web()
    finally:
        sweeper.stop()
        worker.stop()
        engine().close()


def serve_web() -> None:
    """Serve HTTP on the main thread until SIGINT or SIGTERM."""
    from daphne.endpoints import build_endpoint_description_strings

    from felix_web.asgi import application
    from felix_web.embedded.web_server import PacedServer

    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGTERM))
    PacedServer(
        application=application,
        endpoints=build_endpoint_description_strings(host=settings.BIND, port=settings.PORT),
        signal_handlers=True,
        action_logger=None,
        http_timeout=None,
        ping_interval=15,
        websocket_timeout=-1,
        application_close_timeout=2,
        server_name="felix",
        verbosity=0,
    ).run()
