"""One route: a message comes, is committed, and the stream of its run begins."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncGenerator
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connection, transaction
from django.db.models import F
from django.http import HttpRequest, StreamingHttpResponse
from django.urls import path

from benchmarks.bare.models import Audit, Branch, Event, Run, Thread


def _commit(body: dict[str, Any]) -> str:
    """The message and its run are stored in one transaction, as Felix's *send* does it."""
    try:
        with transaction.atomic():
            thread = Thread.objects.create(name=secrets.token_hex(12))
            Branch.objects.create(thread=thread, ranges=[[0, 0, None]])
            run = Run.objects.create(
                id=secrets.token_hex(12), token=secrets.token_hex(26), thread=thread
            )
            Thread.objects.filter(pk=thread.pk).update(head_seq=F("head_seq") + 2)
            said = {"content": body["messages"][0]["content"]}
            Event.objects.bulk_create(
                [
                    Event(thread=thread, seq=0, run=run, kind="user_message", payload=said),
                    Event(thread=thread, seq=1, run=run, kind="run_started", payload={}),
                ]
            )
            Audit.objects.create(act="run_started", facts={"manifest": body["manifest"]})
            return str(run.id)
    finally:
        # A stream would hold the connection for as long as it is open.
        connection.close()


async def stream(request: HttpRequest) -> StreamingHttpResponse:
    """Answer with the first frame, then the end."""
    run_id = await sync_to_async(_commit)(json.loads(request.body))

    async def frames() -> AsyncGenerator[bytes, None]:
        frame = {"type": "run", "run_id": run_id, "status": "queued"}
        yield b"data: " + json.dumps(frame).encode() + b"\n\n"
        yield b"data: [DONE]\n\n"

    return StreamingHttpResponse(frames(), content_type="text/event-stream")


urlpatterns = [path("api/chat/stream", stream)]
