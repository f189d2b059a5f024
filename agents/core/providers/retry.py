"""Asks a model again where that can help, and never once a reader has seen text of the answer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from agents.core.providers.base import (
    Completed,
    ModelRequest,
    Provider,
    ProviderError,
    StreamItem,
    TextDelta,
)
from agents.core.providers.profiles import Retry

_MAX_DOUBLINGS = 30


@dataclass(frozen=True, slots=True)
class Retrying:
    """An attempt failed; forget its reasoning. The next one starts after the delay.

    Attributes:
        attempt: Number of the attempt that comes, the first one being 1.
        reason: The failure, in words fit to show.
        is_usage_lost: The attempt may have used tokens that nobody reported.
    """

    attempt: int
    delay_seconds: float
    reason: str
    is_usage_lost: bool = False


def delay_seconds(
    retry: Retry, failures: int, wish_seconds: float | None, *, chance: float
) -> float:
    """Return the pause after this many failures: exponential, with full jitter, capped.

    Args:
        retry: Base and cap.
        failures: How many attempts failed so far, from 1.
        wish_seconds: The provider's Retry-After; the pause is no shorter, within the cap.
        chance: A random number from 0 to 1.
    """
    doubled = retry.base_delay_seconds * 2.0 ** min(failures - 1, _MAX_DOUBLINGS)
    jittered = chance * min(doubled, retry.max_delay_seconds)
    return min(max(jittered, wish_seconds or 0.0), retry.max_delay_seconds)


def _final(error: ProviderError, attempts: int, *, is_usage_lost: bool) -> ProviderError:
    noun = "attempt" if attempts == 1 else "attempts"
    return ProviderError(
        f"{error.message} Gave up after {attempts} {noun}.",
        retryable=error.retryable,
        retry_after_seconds=error.retry_after_seconds,
        status=error.status,
        detail=error.detail,
        is_usage_lost=is_usage_lost,
    )


async def stream_with_retries(
    provider: Provider,
    request: ModelRequest,
    retry: Retry,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    chance: Callable[[], float] = random.random,
) -> AsyncGenerator[StreamItem | Retrying, None]:
    """Yield one answer, and a `Retrying` before every further attempt.

    Close it (`contextlib.aclosing`) where you stop early, so that the connection closes at once.

    Raises:
        ProviderError: the last attempt's, saying how many there were. It is final: it cannot be
            retried, or the attempts are spent, or visible text had already been yielded. Usage is
            lost where that of any attempt was.
    """
    is_usage_lost = False
    for attempt in range(1, retry.max_attempts + 1):
        has_shown_text = False
        try:
            async with aclosing(_one_attempt(provider, request)) as items:
                async for item in items:
                    has_shown_text = has_shown_text or isinstance(item, TextDelta)
                    yield item
            return
        except ProviderError as error:
            is_usage_lost = is_usage_lost or error.is_usage_lost
            if not error.retryable or has_shown_text or attempt == retry.max_attempts:
                raise _final(error, attempt, is_usage_lost=is_usage_lost) from error
            wish = error.retry_after_seconds
            pause = delay_seconds(retry, attempt, wish, chance=chance())
            notice = Retrying(attempt + 1, pause, error.message, error.is_usage_lost)
        yield notice
        await sleep(notice.delay_seconds)


async def _one_attempt(
    provider: Provider, request: ModelRequest
) -> AsyncGenerator[StreamItem, None]:
    item: StreamItem | None = None
    stream = provider.stream(request)
    try:
        async for item in stream:
            yield item
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()
    if not isinstance(item, Completed):
        raise ProviderError("The model's answer broke off.", retryable=True, is_usage_lost=True)
