"""Database work of async views: whole sync services, on the request's own thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from asgiref.sync import SyncToAsync, sync_to_async
from django.db import connection

P = ParamSpec("P")
T = TypeVar("T")


async def in_database(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what the service returns, called on the request's thread."""
    return await sync_to_async(work)(*args, **kwargs)


async def last_in_database(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what the service returns, and hold no connection from here on: the request goes on
    without one.

    A response that streams, or waits, would keep its connection to its end (40 streams, 40
    connections).
    """

    def work_and_release() -> T:
        try:
            return work(*args, **kwargs)
        finally:
            if not connection.in_atomic_block:
                connection.close()

    return await sync_to_async(work_and_release)()


def let_thread_go() -> None:
    """The request's own thread ends; database work after this would start another.

    Django keeps one idle thread for each request until its answer has been sent: for a stream, a
    thread and its stack for as long as somebody reads.
    """
    context = SyncToAsync.thread_sensitive_context.get(None)
    if context is None:
        return
    executor = SyncToAsync.context_to_thread_executor.pop(context, None)
    if executor is not None:
        executor.submit(lambda: connection.close())  # looked up there: each thread has its own
        executor.shutdown(wait=False)
