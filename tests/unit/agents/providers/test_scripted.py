"""The demo model."""

import pytest

from agents.core.providers.base import (
    Completed,
    ModelRequest,
    TextDelta,
    ToolSpec,
    ToolTurn,
    UserTurn,
)
from agents.core.providers.script import ScriptInvalid, read_script
from agents.core.providers.scripted import DELTA_SECONDS, DEMO_SCRIPT, MARK, Scripted
from sessions.core.states import StopReason
from tests.unit.agents.providers.helpers import ask, items

ALL = ("list_dir", "write_file", "read_file", "calculator")


async def no_pause(seconds: float) -> None:
    assert seconds <= 0.02


@pytest.fixture
def demo() -> Scripted:
    return Scripted(read_script(DEMO_SCRIPT.read_text("utf-8")), sleep=no_pause)


async def conversation(
    demo: Scripted, text: str, tools: tuple[str, ...] = ALL, result: str = "42"
) -> list[Completed]:
    """Return every answer to one message, each call having the same result."""
    specs = tuple(ToolSpec(name, "", {"type": "object"}) for name in tools)
    messages, answers = demo.render(UserTurn(text)), list[Completed]()
    while not answers or answers[-1].turn.calls:
        *_, last = await items(demo, ModelRequest(messages, specs))
        assert isinstance(last, Completed)
        answers.append(last)
        messages = [*messages, *demo.render(last.turn)]
        for call in last.turn.calls:
            messages += demo.render(ToolTurn(call.call_id, call.name, result))
    return answers


def tools_of(answers: list[Completed]) -> list[str]:
    return [call.name for answer in answers for call in answer.turn.calls]


async def test_a_task_to_write_reads_first_then_proposes_one_write(demo: Scripted) -> None:
    answers = await conversation(demo, "Please write a greeting for the team")

    assert tools_of(answers) == ["list_dir", "write_file"]
    assert answers[1].turn.calls[0].args["path"] == "notes/hello.md"
    assert answers[-1].stop_reason is StopReason.END_TURN


async def test_a_sum_goes_to_the_calculator(demo: Scripted) -> None:
    answers = await conversation(demo, "What is (3 + 4) * 6?")

    assert answers[0].turn.calls[0].args == {"expression": "(3 + 4) * 6"}
    assert "42" in answers[-1].turn.content


async def test_only_tools_that_are_offered_are_proposed(demo: Scripted) -> None:
    assert tools_of(await conversation(demo, "write a note", ("write_file",))) == ["write_file"]
    assert tools_of(await conversation(demo, "write a note", ())) == []


async def test_a_denied_write_is_not_proposed_again(demo: Scripted) -> None:
    denied = "[error/permission_denied] A reviewer denied the call."

    answers = await conversation(demo, "write a note", ("write_file",), denied)

    assert tools_of(answers) == ["write_file"]
    assert "did not go through" in answers[-1].turn.content


async def test_every_answer_says_that_it_is_scripted(demo: Scripted) -> None:
    answers = [*await conversation(demo, "write a note"), *await conversation(demo, "hm?")]

    assert demo.is_scripted
    assert all(answer.turn.content.startswith(MARK) for answer in answers)


async def test_the_deltas_are_small_and_add_up(demo: Scripted) -> None:
    found = await items(demo, ask(demo, "hm?"))

    deltas = [item.text for item in found if isinstance(item, TextDelta)]
    assert len(deltas) > 20
    assert "".join(deltas) == found[-1].turn.content  # type: ignore[union-attr]
    assert DELTA_SECONDS <= 0.02


async def test_a_second_message_starts_the_script_anew(demo: Scripted) -> None:
    specs = (ToolSpec("write_file", "", {"type": "object"}),)
    first = await conversation(demo, "write a note", ("write_file",))
    said = [m for answer in first for m in demo.render(answer.turn)]
    messages = [*demo.render(UserTurn("write")), *said, *demo.render(UserTurn("write more"))]

    last = (await items(demo, ModelRequest(messages, specs)))[-1]

    assert tools_of([last]) == ["write_file"]  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("otherwise: x\nrule: []", "unknown key 'rule'"),
        ("rules: []", "otherwise"),
        ("otherwise: x\nrules: [{when: '(', steps: [{say: a}]}]", "rules[0].when"),
        ("otherwise: x\nrules: [{when: a, steps: [{}]}]", "rules[0].steps[0]: must say"),
        (
            "otherwise: x\nrules: [{when: a, steps: [{calls: [{args: {}}]}]}]",
            "calls[0]: needs a tool",
        ),
        ("[", "script:"),
    ],
)
def test_a_script_that_is_wrong_is_refused_with_its_place(text: str, named: str) -> None:
    with pytest.raises(ScriptInvalid) as caught:
        read_script(text)

    assert named in caught.value.message
