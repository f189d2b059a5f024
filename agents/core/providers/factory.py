"""Opens a model profile: the one place that knows which adapter answers for it."""

from __future__ import annotations

from collections.abc import Mapping

from agents.core.providers.base import Provider
from agents.core.providers.chat_completions import ChatCompletions
from agents.core.providers.profiles import ModelProfile


def open_provider(profile: ModelProfile, environ: Mapping[str, str]) -> Provider:
    """Return the adapter of the profile. Keep it: it holds the connections of its process.

    Raises:
        ApiKeyUnset: the variable that its provider names is not set.
    """
    return ChatCompletions(profile, profile.provider.api_key(environ))
