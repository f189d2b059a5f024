"""The adapter for every server that speaks OpenAI's chat completions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from agents.core.providers import messages
from agents.core.providers.base import ModelRequest, ProviderError, StreamItem, Turn
from agents.core.providers.collect import AnswerCollector
from agents.core.providers.failures import from_sdk, is_usage_lost
from agents.core.providers.profiles import ModelProfile
from felix_web.common.digests import digest

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream

# After its last piece of an answer a server owes the usage, then the end of the stream.
USAGE_GRACE_SECONDS = 5.0
END_GRACE_SECONDS = 0.5


def request_body(model_id: str, request: ModelRequest, *, sends_cache_key: bool) -> dict[str, Any]:
    """Return the JSON of a streamed request, its messages last and untouched."""
    body: dict[str, Any] = {
        "model": model_id,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [messages.render_tool(tool) for tool in request.tools]
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.cache_key and sends_cache_key:
        body["prompt_cache_key"] = request.cache_key
    body["messages"] = request.messages
    return body


async def _until_whole(
    stream: AsyncStream[object], collector: AnswerCollector, deadline: float
) -> AsyncGenerator[object, None]:
    """Yield the stream's chunks; once the answer is whole, what follows has a short grace left."""
    clock = asyncio.get_running_loop().time
    while True:
        if collector.is_whole:
            grace = END_GRACE_SECONDS if collector.has_usage else USAGE_GRACE_SECONDS
            deadline = min(deadline, clock() + grace)
        # Never a timeout around a yield: it would cancel the consumer in its own code.
        async with asyncio.timeout_at(deadline):
            chunk = await anext(stream, None)
        if chunk is None:
            return
        yield chunk


class ChatCompletions:
    """A `Provider` on the openai SDK.

    Args:
        profile: The model and its server.
        api_key: What `profile.provider.api_key(...)` returned; empty where the server needs none.
    """

    is_scripted = False

    def __init__(self, profile: ModelProfile, api_key: str) -> None:
        self._profile = profile
        self._api_key = api_key
        account = digest(api_key)[:12] if api_key else "-"
        self._origin = f"{profile.provider.base_url} {profile.model_id} {account}"
        self._client: asyncio.Future[AsyncOpenAI] | None = None

    @property
    def origin(self) -> str:
        """Address, model and a digest of the key."""
        return self._origin

    def render(self, turn: Turn) -> list[dict[str, Any]]:
        """See `Provider.render`."""
        return messages.render_turn(turn, origin=self._origin)

    def render_system(self, text: str) -> list[dict[str, Any]]:
        """See `Provider.render_system`."""
        return messages.render_system(text)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        """See `Provider.stream`."""
        names = {tool.name for tool in request.tools}
        collector = AnswerCollector(self._origin, names, messages.call_ids(request.messages))
        async with aclosing(self._chunks(request, collector)) as chunks:
            async for chunk in chunks:
                for item in collector.feed(chunk):
                    yield item
        for item in collector.finish():
            yield item

    async def _chunks(
        self, request: ModelRequest, collector: AnswerCollector
    ) -> AsyncGenerator[object, None]:
        """Yield the chunks until the answer is whole, within its deadline.

        A failure after the last piece of the answer costs the usage only, so it is no failure.
        """
        client = await self._connected()
        import openai
        from httpx2 import HTTPError

        seconds = self._seconds(request)
        deadline = asyncio.get_running_loop().time() + seconds
        stream: AsyncStream[object] | None = None
        try:
            async with asyncio.timeout_at(deadline):
                stream = await self._open(client, request)
            async with aclosing(_until_whole(stream, collector, deadline)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except (TimeoutError, openai.OpenAIError, HTTPError, ValueError) as error:
            if stream is None and isinstance(error, ValueError):
                raise
            if not collector.is_whole:
                raise self._failure(error, seconds, has_begun=stream is not None) from None
        finally:
            if stream is not None:
                await stream.close()

    def _seconds(self, request: ModelRequest) -> float:
        """Return how long the answer may take: the profile's time, or less where less is left."""
        own = self._profile.deadline_seconds
        return own if request.deadline_seconds is None else min(own, request.deadline_seconds)

    def _failure(self, error: Exception, seconds: float, *, has_begun: bool) -> ProviderError:
        if isinstance(error, TimeoutError):
            message = f"The answer took longer than {seconds:g} seconds."
            return ProviderError(message, retryable=True, is_usage_lost=True)
        failure = from_sdk(error, api_key=self._api_key)
        failure.is_usage_lost = has_begun or is_usage_lost(error)
        return failure

    async def _open(self, client: AsyncOpenAI, request: ModelRequest) -> AsyncStream[object]:
        from openai import AsyncStream, Omit

        provider = self._profile.provider
        # `chat.completions.create` walks the whole history to re-validate it, on the loop, and
        # builds a model of every chunk; `post` sends and returns plain JSON.
        return await client.post(
            "/chat/completions",
            cast_to=object,
            body=request_body(
                self._profile.model_id, request, sends_cache_key=provider.sends_cache_key
            ),
            options={} if self._api_key else {"headers": {"Authorization": Omit()}},
            stream=True,
            stream_cls=AsyncStream[object],
        )

    async def aclose(self) -> None:
        """Close the connections; the next request opens new ones."""
        building, self._client = self._client, None
        if building is not None:
            await (await building).close()

    async def _connected(self) -> AsyncOpenAI:
        """Return the one client of this loop; a thread imports the SDK and builds it (0.7 s)."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._client.get_loop() is not loop:
            self._client = loop.run_in_executor(None, self._build)
        return await asyncio.shield(self._client)

    def _build(self) -> AsyncOpenAI:
        from httpx2 import Timeout
        from openai import AsyncOpenAI

        provider = self._profile.provider
        timeout = Timeout(provider.read_timeout_seconds, connect=provider.connect_timeout_seconds)
        client = AsyncOpenAI(
            api_key=self._api_key or "none",
            base_url=provider.base_url,
            timeout=timeout,
            max_retries=0,
        )
        # The SDK takes these from the environment; they are OpenAI's and go to no other server.
        client.organization = client.project = client.admin_api_key = None
        return client
