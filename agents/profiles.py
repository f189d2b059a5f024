"""The models of this deployment, read once per process, and one adapter for each."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from django.conf import settings

from agents.core.providers.base import Provider
from agents.core.providers.factory import open_provider
from agents.core.providers.models_file import models_from_environment, read_models
from agents.core.providers.profiles import ModelProfile, Models, ProviderProfile
from felix_web import env
from felix_web.env import EnvError

SCRIPTED = "scripted"


class NoModels(EnvError):
    """No model is configured."""

    code = "no_models"
    hint = "Set FELIX_OPENAI_BASE_URL, _API_KEY and _MODEL, or write models.yaml."


@cache
def deployment_models() -> Models:
    """Return the deployment's models.

    Of FELIX_MODELS_FILE or models.yaml, else of the short form, else the demo.

    Raises:
        NoModels: none is configured, and this is not the embedded process on loopback.
        EnvError: the named file cannot be read.
        ModelsInvalid: what it says cannot be used.
    """
    named = env.text("FELIX_MODELS_FILE")
    path = Path(named) if named else settings.DATA_DIR / "models.yaml"
    if named or path.exists():
        try:
            return read_models(path.read_text(encoding="utf-8"), source=str(path))
        except (OSError, UnicodeError):
            raise EnvError(f"The models file {path} cannot be read.") from None
    short = models_from_environment(_short_form())
    if short is not None:
        return short
    if not (settings.IS_EMBEDDED and settings.IS_LOOPBACK):
        raise NoModels()
    return _demo()


def _short_form() -> dict[str, str]:
    names = ("FELIX_OPENAI_BASE_URL", "FELIX_OPENAI_API_KEY", "FELIX_OPENAI_MODEL")
    values = {name: env.text(name) for name in names}
    return {name: value for name, value in values.items() if value}


def _demo() -> Models:
    profile = ModelProfile(SCRIPTED, ProviderProfile(SCRIPTED, ""), SCRIPTED)
    return Models(SCRIPTED, {SCRIPTED: profile})


def is_scripted() -> bool:
    """Return whether the demo model answers here, which every surface says."""
    return deployment_models().active_model == SCRIPTED and SCRIPTED in deployment_models().models


@cache
def provider_for(profile: ModelProfile) -> Provider:
    """Return the profile's adapter, the same one for as long as the process lives.

    Raises:
        ApiKeyUnset: the variable that its provider names is not set.
    """
    if profile.provider.name == SCRIPTED and not profile.provider.base_url:
        from agents.core.providers.scripted import demo_model

        return demo_model()
    return open_provider(profile, _environ())


def _environ() -> dict[str, str]:
    """Return the environment with the short form's values, which may come from files."""
    return {**os.environ, **_short_form()}
