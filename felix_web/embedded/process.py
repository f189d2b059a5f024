"""The embedded process.

Web, worker and scheduler in one, on SQLite, without Redis (decisions 2.1, 3.7).
"""

from __future__ import annotations

import signal
import socket
import threading
from typing import Any

from django.conf import settings


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


def serve_embedded(listener: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM; then runs end their step and their leases are freed.

    The caller has taken the data directory's lock and migrated the database.
    """
    from agents.doorbells import EmbeddedDoorbell
    from agents.engine import engine
    from agents.profiles import deployment_models
    from agents.sweeper import SweepThread
    from felix_web.common.doorbell import install_doorbell
    from felix_web.common.lasting import let_go, watch

    deployment_models()
    install_doorbell(EmbeddedDoorbell())
    engine()
    worker, sweeper = WorkerThread(), SweepThread()
    worker.start()
    watch(worker)
    sweeper.start()
    try:
        serve_web(listener)
    finally:
        sweeper.close()
        let_go(worker)
        worker.stop()
        engine().close()


def serve_web(listener: socket.socket) -> None:
    """Serve HTTP on the main thread until SIGINT or SIGTERM."""
    from felix_web.asgi import application
    from felix_web.embedded.web_server import PacedServer

    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGTERM))
    PacedServer(
        application=application,
        endpoints=["none: the socket is handed over"],
        signal_handlers=True,
        action_logger=None,
        http_timeout=None,
        ping_interval=15,
        websocket_timeout=-1,
        application_close_timeout=2,
        server_name="felix",
        verbosity=0,
    ).serve_on(listener)
