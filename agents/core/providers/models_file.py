"""Reads the model profiles: models.yaml, or the short form of three variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from agents.core.providers.fields import Fields, ModelsInvalid, nearest
from agents.core.providers.profiles import (
    CHAT_COMPLETIONS,
    DEFAULT_MAX_TURNS,
    ModelProfile,
    Models,
    Price,
    ProviderProfile,
    Retry,
)
from agents.core.providers.strict_yaml import read_yaml
from felix_web.common.errors import InvalidInput

LATER_APIS = ("responses", "anthropic")
SHORT_URL, SHORT_KEY, SHORT_MODEL = (
    "FELIX_OPENAI_BASE_URL",
    "FELIX_OPENAI_API_KEY",
    "FELIX_OPENAI_MODEL",
)

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FILE_KEYS = ("active_model", "system_prompt", "providers", "models", "retry")
_PROVIDER_KEYS = (
    "base_url",
    "api_key_env",
    "api",
    "prompt_cache_key",
    "connect_timeout_seconds",
    "read_timeout_seconds",
)
_MODEL_KEYS = (
    "provider",
    "model_id",
    "context_window",
    "max_turns",
    "price",
    "retry",
    "deadline_seconds",
)
_RETRY_KEYS = ("max_attempts", "max_retries", "base_delay_seconds", "max_delay_seconds")
_PRICE_KEYS = ("input", "output", "cache_read", "cache_write")


def _checked_url(url: str, path: str) -> str:
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        is_whole = False
    if not is_whole or any(c.isspace() or not c.isprintable() for c in url):
        raise ModelsInvalid(f"{path}: must be an http:// or https:// address")
    if "@" in parts.netloc:
        raise ModelsInvalid(f"{path}: must not hold a credential; name its variable in api_key_env")
    if parts.query or parts.fragment:
        raise ModelsInvalid(f"{path}: must end before any ? or #")
    return url.rstrip("/")


def _api(fields: Fields) -> str:
    api = fields.text("api", CHAT_COMPLETIONS)
    if api in LATER_APIS:
        raise ModelsInvalid(f"{fields.at('api')}: {api!r} is not supported by this build")
    if api != CHAT_COMPLETIONS:
        raise ModelsInvalid(f"{fields.at('api')}: unknown api{nearest(api, [CHAT_COMPLETIONS])}")
    return api


def _provider(name: str, body: Any) -> ProviderProfile:
    fields = Fields(body, f"providers.{name}", _PROVIDER_KEYS)
    variable = fields.text("api_key_env", "")
    if variable and not _VARIABLE.fullmatch(variable):
        # The value is not quoted: what stands here by mistake is most likely a key.
        raise ModelsInvalid(
            f"{fields.at('api_key_env')}: must be the name of a variable, not a key"
        )
    return ProviderProfile(
        name=name,
        base_url=_checked_url(fields.text("base_url"), fields.at("base_url")),
        api_key_env=variable,
        api=_api(fields),
        sends_cache_key=fields.flag("prompt_cache_key", False),
        connect_timeout_seconds=fields.number("connect_timeout_seconds", 10.0, above_zero=True),
        read_timeout_seconds=fields.number("read_timeout_seconds", 120.0, above_zero=True),
    )


def _retry(body: Any, path: str, base: Retry) -> Retry:
    if body is None:
        return base
    fields = Fields(body, path, _RETRY_KEYS)
    attempts = fields.whole("max_attempts", base.max_attempts)
    if fields.has("max_retries"):
        if fields.has("max_attempts"):
            raise ModelsInvalid(
                f"{path}: write max_attempts (in all) or max_retries (extra), not both"
            )
        attempts = fields.whole("max_retries", 0, least=0) + 1
    return Retry(
        max_attempts=attempts,
        base_delay_seconds=fields.number("base_delay_seconds", base.base_delay_seconds),
        max_delay_seconds=fields.number("max_delay_seconds", base.max_delay_seconds),
    )


def _price(body: Any, path: str) -> Price | None:
    if body is None:
        return None
    fields = Fields(body, path, _PRICE_KEYS)
    per_input = fields.number("input", None)
    return Price(
        input=per_input,
        output=fields.number("output", None),
        cache_read=fields.number("cache_read", per_input),
        cache_write=fields.number("cache_write", per_input),
    )


def _model(
    name: str, body: Any, providers: Mapping[str, ProviderProfile], retry: Retry
) -> ModelProfile:
    fields = Fields(body, f"models.{name}", _MODEL_KEYS)
    provider = providers.get(fields.text("provider"))
    if provider is None:
        wrong = fields.text("provider")
        where = fields.at("provider")
        raise ModelsInvalid(f"{where}: unknown provider {wrong!r}{nearest(wrong, providers)}")
    return ModelProfile(
        name=name,
        provider=provider,
        model_id=fields.text("model_id"),
        context_window=(
            fields.whole("context_window", 1) if fields.has("context_window") else None
        ),
        max_turns=fields.whole("max_turns", DEFAULT_MAX_TURNS),
        price=_price(fields.value("price"), fields.at("price")),
        retry=_retry(fields.value("retry"), fields.at("retry"), retry),
        deadline_seconds=fields.number("deadline_seconds", 600.0, above_zero=True),
    )


def parse_models(document: Any) -> Models:
    """Return the profiles of a parsed models file.

    Raises:
        ModelsInvalid: any part of it is wrong, used or not; the message names the place.
    """
    fields = Fields(document, "", _FILE_KEYS)
    providers = {name: _provider(name, body) for name, body in fields.entries("providers").items()}
    retry = _retry(fields.value("retry"), "retry", Retry())
    entries = fields.entries("models")
    models = {name: _model(name, body, providers, retry) for name, body in entries.items()}
    active = fields.text("active_model", next(iter(models)))
    if active not in models:
        raise ModelsInvalid(f"active_model: unknown model {active!r}{nearest(active, models)}")
    prompt = fields.value("system_prompt")
    if prompt is not None and not isinstance(prompt, str):
        raise ModelsInvalid("system_prompt: must be a text")
    return Models(active, models, prompt or "")


def read_models(text: str, *, source: str = "models.yaml") -> Models:
    """Return the profiles of a models file.

    Raises:
        ModelsInvalid: as `parse_models`, with the source in front; and for text that is not strict
            YAML.
    """
    try:
        document = read_yaml(text, source=source)
    except InvalidInput as error:
        raise ModelsInvalid(error.message) from None
    try:
        return parse_models(document)
    except ModelsInvalid as error:
        raise ModelsInvalid(f"{source}: {error.message}") from None


def models_from_environment(environ: Mapping[str, str]) -> Models | None:
    """Return the one model of the short form, or None where none of its variables is set.

    FELIX_OPENAI_API_KEY may be missing: a local server needs none.

    Raises:
        ModelsInvalid: only a part of it is set, or the address is not one.
    """
    url, key, model = (environ.get(v, "").strip() for v in (SHORT_URL, SHORT_KEY, SHORT_MODEL))
    if not (url or key or model):
        return None
    missing = [name for name, value in ((SHORT_URL, url), (SHORT_MODEL, model)) if not value]
    if missing:
        given = " and ".join(
            name for name in (SHORT_URL, SHORT_KEY, SHORT_MODEL) if environ.get(name, "").strip()
        )
        raise ModelsInvalid(f"{given} is set, so {' and '.join(missing)} must be set too")
    provider = ProviderProfile("openai", _checked_url(url, SHORT_URL), SHORT_KEY if key else "")
    return Models(model, {model: ModelProfile(model, provider, model)})
