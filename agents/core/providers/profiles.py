"""Model profiles: where a model answers, what it costs and how often it is asked again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from agents.core.providers.fields import nearest
from felix_web.common.errors import FelixError

CHAT_COMPLETIONS = "chat_completions"
DEFAULT_MAX_TURNS = 100


class ApiKeyUnset(FelixError):
    """The variable that holds the provider's key is not set."""

    code: ClassVar[str] = "api_key_unset"
    title = "No API key"
    hint = "Set the variable for the web and the worker process, then start them again."


class UnknownModel(FelixError):
    """No model of this name is configured."""

    code: ClassVar[str] = "unknown_model"
    title = "Unknown model"
    hint = "Use the name of a model of models.yaml."


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a request is made in all, and how long the pauses grow."""

    max_attempts: int = 5
    base_delay_seconds: float = 2.0
    max_delay_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. Cached tokens cost what `input` does if the file is silent."""

    input: float
    output: float
    cache_read: float
    cache_write: float


@dataclass(frozen=True, slots=True)
class ProviderProfile:
    """A server that answers. `api_key_env` is empty where it needs no key.

    Attributes:
        sends_cache_key: The server understands `prompt_cache_key`; another may refuse the request.
        read_timeout_seconds: Longest silence between two pieces of an answer.
    """

    name: str
    base_url: str
    api_key_env: str = ""
    api: str = CHAT_COMPLETIONS
    sends_cache_key: bool = False
    connect_timeout_seconds: float = 10.0
    read_timeout_seconds: float = 120.0

    def api_key(self, environ: Mapping[str, str]) -> str:
        """Return the key, or an empty text for a server that needs none.

        Raises:
            ApiKeyUnset: the variable is unset, or blank, or cannot be a key; nothing was sent.
        """
        if not self.api_key_env:
            return ""
        key = environ.get(self.api_key_env, "").strip()
        what = f"Provider {self.name!r}: the variable {self.api_key_env}"
        if not key:
            raise ApiKeyUnset(f"{what} is not set.")
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ApiKeyUnset(f"{what} does not hold a key.")
        return key


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """One model. `price` None means that its cost is unknown, which is not the same as free.

    Attributes:
        context_window: Tokens of prompt and answer together; the panel shows how much of it the
            last request took. None where the file does not say.
        max_turns: Most model calls of one run, whatever its manifest allows.
        deadline_seconds: Longest time of one whole answer.
    """

    name: str
    provider: ProviderProfile
    model_id: str
    context_window: int | None = None
    max_turns: int = DEFAULT_MAX_TURNS
    price: Price | None = None
    retry: Retry = Retry()
    deadline_seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class Models:
    """Everything models.yaml says. `active_model` is always one of `models`."""

    active_model: str
    models: Mapping[str, ModelProfile]
    system_prompt: str = ""

    @property
    def active(self) -> ModelProfile:
        """The model of a manifest that names none."""
        return self.models[self.active_model]

    def model(self, name: str) -> ModelProfile:
        """Return the profile of this name; the active one for an empty name.

        Raises:
            UnknownModel: there is none; the message names the nearest.
        """
        found = self.models.get(name or self.active_model)
        if found is None:
            raise UnknownModel(f"No model {name!r}{nearest(name, self.models)}")
        return found
