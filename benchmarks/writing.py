"""`felix up` with a writer inside: appends to a thread at an even pace once it is told to.

The file named by BENCH_ORDER says what: {"run_id": ..., "events": N, "per_second": M}.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sessions.models import Run

TEXT = "x" * 200


def _order(path: Path) -> dict[str, Any]:
    while not path.exists():
        time.sleep(0.05)
    order: dict[str, Any] = json.loads(path.read_text())
    return order


def _append(run: Run, number: int) -> None:
    """One more event of the run is in the log, as a step of its driver would leave it."""
    from felix_web.tenancy.scoping import tenant_scope
    from sessions.bells import ring_thread
    from sessions.core.events import EventKind, NewEvent
    from sessions.services.log import append

    with tenant_scope(run.tenant_id):
        append(
            tenant_id=run.tenant_id,
            thread_id=run.thread_id,
            branch=run.branch,
            leaf_epoch=run.leaf_epoch,
            run_id=run.pk,
            events=[NewEvent(EventKind.NOTE, {"content": TEXT, "number": number})],
        )
        ring_thread(run.thread_id)


def _write(path: Path) -> None:
    order = _order(path)
    from django.db import connection

    from sessions.models import Run

    run = Run.objects.get(pk=order["run_id"])
    began = time.monotonic()
    for number in range(order["events"]):
        time.sleep(max(0.0, began + number / order["per_second"] - time.monotonic()))
        _append(run, number)
    connection.close()
    took = time.monotonic() - began
    path.with_suffix(".done").write_text(json.dumps({"took_seconds": took}))


def main() -> int:
    """Serve as `felix up` does, the writer beside it."""
    from felix_web.cli.main import main as felix

    order = Path(os.environ["BENCH_ORDER"])
    threading.Thread(target=_write, args=(order,), name="bench-writer", daemon=True).start()
    return felix(["up"])


if __name__ == "__main__":
    sys.exit(main())
