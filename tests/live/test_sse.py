"""A stream as an HTTP answer: headers that keep proxies off it, and an end that is noticed."""

import asyncio

from felix_web.surfaces.rest.stream import sse


async def fields(ended):
    try:
        yield b"data: 1\n\n"
        yield b"data: 2\n\n"
        await asyncio.Event().wait()
    finally:
        ended.append(True)


def test_no_proxy_may_store_pack_or_collect_it():
    answer = sse(fields([]), headers={"Idempotent-Replayed": "true"})

    assert answer["content-type"] == "text/event-stream"
    assert answer["cache-control"] == "no-cache"
    assert answer["x-accel-buffering"] == "no"
    assert answer["content-encoding"] == "identity"
    assert answer["idempotent-replayed"] == "true"
    assert answer.is_async


async def test_each_field_goes_out_as_it_comes():
    parts = aiter(sse(fields([])))

    assert await anext(parts) == b"data: 1\n\n"
    assert await anext(parts) == b"data: 2\n\n"


async def test_a_reader_that_leaves_ends_the_generator():
    ended = []

    async def read():
        async for _ in sse(fields(ended)):
            pass

    reading = asyncio.ensure_future(read())
    await asyncio.sleep(0)
    reading.cancel()
    await asyncio.wait({reading})

    assert ended == [True]
