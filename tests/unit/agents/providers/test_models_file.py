"""models.yaml and its short form."""

import math
from typing import Any

import pytest

from agents.core.providers.fields import ModelsInvalid
from agents.core.providers.models_file import models_from_environment, parse_models, read_models
from agents.core.providers.profiles import ApiKeyUnset, Models, Retry, UnknownModel

FILE = """
active_model: sonnet
system_prompt: Prefer tools.
providers:
  router: {base_url: "https://router.example/v1/", api_key_env: ROUTER_KEY}
  local: {base_url: "http://127.0.0.1:11434/v1", prompt_cache_key: true}
models:
  sonnet:
    provider: router
    model_id: vendor/sonnet
    context_window: 200000
    max_turns: 40
    price: {input: 3.0, output: 15, cache_read: 0, cache_write: 3.75}
    retry: {max_attempts: 3}
  small: {provider: local, model_id: small}
retry: {max_attempts: 4, base_delay_seconds: 1.5, max_delay_seconds: 30}
"""


def document(**changes: Any) -> dict[str, Any]:
    return {
        "providers": {"p": {"base_url": "https://p.example/v1"} | changes.pop("provider", {})},
        "models": {"m": {"provider": "p", "model_id": "id"} | changes.pop("model", {})},
        **changes,
    }


def refusal(value: Any) -> str:
    with pytest.raises(ModelsInvalid) as caught:
        parse_models(value)
    return caught.value.message


def test_a_file_becomes_typed_profiles() -> None:
    models = read_models(FILE)

    sonnet = models.active
    assert (sonnet.name, sonnet.model_id, sonnet.context_window) == (
        "sonnet",
        "vendor/sonnet",
        200000,
    )
    assert (sonnet.provider.base_url, sonnet.max_turns) == ("https://router.example/v1", 40)
    assert models.system_prompt == "Prefer tools."


def test_a_models_own_retry_is_merged_over_the_global_one() -> None:
    models = read_models(FILE)

    assert models.model("sonnet").retry == Retry(3, 1.5, 30)
    assert models.model("small").retry == Retry(4, 1.5, 30)


def test_a_price_of_zero_is_a_price_and_no_price_is_unknown() -> None:
    models = read_models(FILE)

    assert models.active.price is not None
    assert models.active.price.cache_read == 0.0
    assert models.model("small").price is None


def test_cached_tokens_cost_what_input_does_where_the_file_is_silent() -> None:
    price = parse_models(document(model={"price": {"input": 2, "output": 0}})).active.price

    assert price is not None
    assert (price.cache_read, price.cache_write, price.output) == (2.0, 2.0, 0.0)


def test_a_retry_of_zero_extra_requests_is_one_attempt() -> None:
    assert parse_models(document(retry={"max_retries": 0})).active.retry.max_attempts == 1


def test_a_delay_of_zero_stays_zero() -> None:
    assert (
        parse_models(document(retry={"base_delay_seconds": 0})).active.retry.base_delay_seconds == 0
    )


def test_max_attempts_and_max_retries_together_are_refused() -> None:
    assert "not both" in refusal(document(retry={"max_attempts": 2, "max_retries": 1}))


def test_without_an_active_model_the_first_one_is_active() -> None:
    assert parse_models(document()).active_model == "m"


def test_the_prompt_cache_key_is_off_unless_a_provider_asks_for_it() -> None:
    models = read_models(FILE)

    assert not models.model("sonnet").provider.sends_cache_key
    assert models.model("small").provider.sends_cache_key


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (document(modles={}), "modles: unknown key; did you mean 'models'?"),
        (
            document(provider={"api_key": "sk-1"}),
            "providers.p.api_key: unknown key; did you mean 'api_k",
        ),
        (document(model={"context_windw": 1}), "did you mean 'context_window'?"),
        (document(retry={"max_attempt": 1}), "retry.max_attempt: unknown key; did you mean"),
        (document(model={"price": {"inptu": 1}}), "models.m.price.inptu: unknown key"),
        (document(model={"provider": "q"}), "models.m.provider: unknown provider 'q'; known: p"),
        (document(active_model="n"), "active_model: unknown model 'n'"),
        (document(model={"model_id": ""}), "models.m.model_id: must be a text"),
        (document(model={"model_id": None}), "models.m.model_id: must be a text"),
        (
            document(model={"max_turns": 0}),
            "models.m.max_turns: must be a whole number of at least 1",
        ),
        (document(model={"max_turns": True}), "models.m.max_turns"),
        (document(model={"context_window": 1.5}), "models.m.context_window"),
        (document(model={"price": {"input": -1, "output": 1}}), "models.m.price.input"),
        (document(model={"price": {"input": math.nan, "output": 1}}), "models.m.price.input"),
        (document(model={"price": {"input": 1}}), "models.m.price.output"),
        (
            document(model={"deadline_seconds": 0}),
            "models.m.deadline_seconds: must be a number above 0",
        ),
        (document(retry={"max_delay_seconds": math.inf}), "retry.max_delay_seconds"),
        (document(provider={"base_url": "p.example"}), "providers.p.base_url"),
        (document(provider={"base_url": "ftp://p.example"}), "providers.p.base_url"),
        (document(provider={"base_url": "https://u:pw@p.example"}), "must not hold a credential"),
        (document(provider={"base_url": "https://p.example/?key=1"}), "before any ?"),
        (document(provider={"api": "responses"}), "'responses' is not supported by this build"),
        (document(provider={"api": "chat"}), "providers.p.api: unknown api"),
        (document(system_prompt=3), "system_prompt"),
        (document(models={}), "models: must name at least one entry"),
        (document(providers=None), "providers: must name at least one entry"),
        (document(models={"m": None}), "models.m: must be a mapping"),
        ([], "the file: must be a mapping"),
        (None, "the file: must be a mapping"),
    ],
)
def test_what_is_wrong_is_refused_with_its_path(wrong: Any, named: str) -> None:
    assert named in refusal(wrong)


def test_a_key_written_in_the_place_of_its_variable_is_refused_and_not_shown() -> None:
    message = refusal(document(provider={"api_key_env": "sk-or-v1-abc"}))

    assert "must be the name of a variable" in message
    assert "sk-or" not in message


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("models: {}\nmodels: {}", "models.yaml:2:1: the key 'models' a second time"),
        ("a: &x 1\nb: *x", "models.yaml:2:4: an alias"),
        ("a: [", "models.yaml:2:1"),
        ("a: !!python/object:os.system 1", "models.yaml:1:4"),
        ("a: " + "x" * 300_000, "longer than 256 KiB"),
        ("", "must be a mapping"),
    ],
)
def test_text_that_is_not_strict_yaml_is_refused_with_its_place(text: str, named: str) -> None:
    with pytest.raises(ModelsInvalid) as caught:
        read_models(text)

    assert named in caught.value.message


def test_the_key_is_read_from_its_variable_when_the_profile_is_used() -> None:
    provider = read_models(FILE).active.provider

    assert provider.api_key({"ROUTER_KEY": " sk-1\n"}) == "sk-1"


@pytest.mark.parametrize("environ", [{}, {"ROUTER_KEY": " "}, {"ROUTER_KEY": "två ord"}])
def test_a_variable_without_a_key_is_an_error_that_names_it(environ: dict[str, str]) -> None:
    with pytest.raises(ApiKeyUnset) as caught:
        read_models(FILE).active.provider.api_key(environ)

    assert "ROUTER_KEY" in caught.value.message
    assert "två" not in caught.value.message


def test_a_server_that_needs_no_key_gets_none() -> None:
    assert read_models(FILE).model("small").provider.api_key({}) == ""


def test_an_unknown_model_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownModel, match="did you mean 'sonnet'"):
        read_models(FILE).model("sonet")


SHORT = {
    "FELIX_OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
    "FELIX_OPENAI_API_KEY": "sk-2",
    "FELIX_OPENAI_MODEL": "vendor/m",
}


def short(environ: dict[str, str]) -> Models:
    models = models_from_environment(environ)
    assert models is not None
    return models


def test_three_variables_are_enough_without_a_file() -> None:
    active = short(SHORT).active

    assert (active.name, active.model_id) == ("vendor/m", "vendor/m")
    assert active.provider.api_key(SHORT) == "sk-2"


def test_the_short_form_needs_no_key_for_a_local_server() -> None:
    active = short({key: SHORT[key] for key in SHORT if key != "FELIX_OPENAI_API_KEY"}).active

    assert active.provider.api_key({}) == ""


def test_without_any_variable_there_is_no_short_form() -> None:
    assert models_from_environment({"OPENAI_API_KEY": "sk-3"}) is None


def test_a_part_of_the_short_form_is_refused_with_what_is_missing() -> None:
    with pytest.raises(ModelsInvalid, match="FELIX_OPENAI_BASE_URL and FELIX_OPENAI_MODEL must be"):
        models_from_environment({"FELIX_OPENAI_API_KEY": "sk-2"})


def test_what_is_wrong_names_the_file_it_stands_in() -> None:
    with pytest.raises(ModelsInvalid, match=r"^/data/models\.yaml: models: must name at least one"):
        read_models("providers: {p: {base_url: 'http://h/v1'}}", source="/data/models.yaml")


def test_a_part_of_the_short_form_names_what_is_set() -> None:
    with pytest.raises(ModelsInvalid, match="FELIX_OPENAI_MODEL is set, so FELIX_OPENAI_BASE_URL"):
        models_from_environment({"FELIX_OPENAI_MODEL": "m"})
