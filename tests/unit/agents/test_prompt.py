"""The prompt pairs every call with one result, in the model's order, and only ever grows."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import pytest

from agents.core.prompt import UNANSWERED, Prompt
from agents.core.providers import messages
from sessions.core.events import Event
from sessions.core.states import CallStatus
from tests.fakes.issued import Issued
from tests.fakes.judge import judge
from tests.unit.agents.facts import answered, result, said, started


class Renderer:
    """The part of a chat completions provider that makes messages."""

    origin = "test"
    is_scripted = False

    def render(self, turn: Any) -> list[dict[str, Any]]:
        return messages.render_turn(turn, origin=self.origin)

    def render_system(self, text: str) -> list[dict[str, Any]]:
        return messages.render_system(text)

    def stream(self, request: Any) -> Any:
        raise AssertionError("nobody asks")


def prompt_of(*events: Event) -> Prompt:
    prompt = Prompt(Renderer(), system="Be brief.", tools=[])
    for one in events:
        prompt.add(one)
    return prompt


def results_of(prompt: Prompt) -> list[tuple[str, str]]:
    return [(m["tool_call_id"], m["content"]) for m in prompt.messages() if m["role"] == "tool"]


BRANCHES = {
    "results in order": [said(), answered("act", "look"), result("c0"), result("c1")],
    "results in another order": [said(), answered("act", "look"), result("c1"), result("c0")],
    "an open call at the end": [said(), answered("act")],
    "an open call in the middle": [said(), answered("act", "look"), result("c1"), said("well?")],
    "a result that came too late": [said(), answered("act"), said("?"), result("c0")],
    "a second result": [said(), answered("act"), result("c0"), result("c0", content="again")],
    "a result nobody asked for": [said(), answered(text="hi"), result("c9"), said()],
    "starts between": [said(), answered("act"), started("c0"), result("c0")],
    "a denied call": [said(), answered("act"), result("c0", CallStatus.DENIED, "no")],
    "an empty result": [said(), answered("act"), result("c0", content="")],
}


@pytest.mark.parametrize("events", BRANCHES.values(), ids=BRANCHES)
def test_the_strictest_provider_takes_the_prompt_of_any_branch(events: list[Event]):
    sent = prompt_of(*events).messages()

    assert judge({"model": "m", "messages": sent}, issued=Issued(), account="a") == []


def test_results_are_listed_in_the_models_order():
    prompt = prompt_of(
        said(), answered("act", "look"), result("c1", content="b"), result("c0", content="a")
    )

    assert results_of(prompt) == [("c0", "a"), ("c1", "b")]


def test_a_call_without_a_result_says_that_its_effect_is_unknown():
    assert results_of(prompt_of(said(), answered("act"))) == [("c0", UNANSWERED)]


def test_the_first_result_of_a_call_is_the_one_the_model_reads():
    prompt = prompt_of(said(), answered("act"), result("c0"), result("c0", content="late"))

    assert results_of(prompt) == [("c0", "ok")]


def test_each_request_extends_the_one_before_byte_for_byte():
    events = [said(), answered("act", "look"), result("c1"), result("c0"), answered(text="hi")]
    prompt = prompt_of()
    grown: list[list[dict[str, Any]]] = [copy.deepcopy(prompt.messages())]

    for one in [*events, said("more")]:
        prompt.add(one)
        if one is not events[1] and one is not events[2]:
            grown.append(copy.deepcopy(prompt.messages()))

    for earlier, later in pairwise(grown):
        assert later[: len(earlier)] == earlier


def test_the_digest_tells_prompts_apart_and_says_the_same_of_equal_ones():
    events = [said(), answered("act"), result("c0")]

    assert prompt_of(*events).prefix_digest() == prompt_of(*events).prefix_digest()
    assert prompt_of(*events[:1]).prefix_digest() != prompt_of(said("stop")).prefix_digest()
