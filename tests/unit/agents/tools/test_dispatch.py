from __future__ import annotations

import logging
from typing import Any

import pytest

from agents.core.tools.base import Evidence, Outcome, Tool, ToolArgs, ToolContext, ToolFailed
from agents.core.tools.dispatch import execute, present, validate
from agents.core.tools.registry import builtin_tools
from sessions.core.states import CallStatus
from tests.unit.agents.tools.bench import Bench


def refusal(tool: str, args: object) -> str:
    with pytest.raises(ToolFailed) as refused:
        validate(builtin_tools()[tool], args)
    assert refused.value.code == "invalid_arguments"
    return refused.value.message


@pytest.mark.parametrize(
    ("tool", "args", "message"),
    [
        ("write_file", {}, "path: missing, expected string of at least 1 characters"),
        ("read_file", {"path": 7}, "path: got integer 7, expected string"),
        ("read_file", {"path": "a", "offset": "3"}, "offset: got string of 1 characters, expected"),
        ("read_file", {"path": "a", "offset": 0}, "offset: got integer 0, expected integer of at"),
        ("read_file", {"path": "a", "offset": 1.5}, "offset: got number, expected integer"),
        ("read_file", {"path": "a", "offset": True}, "offset: got boolean, expected integer"),
        ("read_file", {"path": None}, "path: got null, expected string"),
        ("search_files", {"query": "a", "max_hits": 51}, "expected integer of 1 to 50"),
        ("search_files", {"query": "a", "max_hit": 5}, "unknown argument, did you mean max_hits?"),
        ("calculator", {"expression": "1", "zzz": 5}, "zzz: unknown argument, known are expr"),
        ("write_file", {"path": "a", "content": "é" * 256_001}, "content: 512,002 bytes; at most"),
        ("read_file", {"path": "a\0"}, "path: holds U+0000 or a lone surrogate"),
        ("read_file", {"path": "\ud800"}, "path: holds U+0000 or a lone surrogate"),
        ("read_file", ["a"], "got array, expected an object"),
        ("read_file", None, "got null, expected an object"),
    ],
)
def test_a_bad_argument_is_named_with_what_came_and_what_is_expected(
    tool: str, args: object, message: str
) -> None:
    assert message in refusal(tool, args)


def test_every_bad_argument_is_named_and_the_first_comes_first() -> None:
    message = refusal("edit_file", {"pth": "a"})

    assert message.startswith("path: missing")
    assert "old_string: missing" in message
    assert "pth: unknown argument, did you mean path?" in message


def test_a_refusal_never_repeats_a_value() -> None:
    assert "hunter2" not in refusal("read_file", {"path": "x", "offset": "hunter2"})


def test_a_hostile_argument_name_does_not_reach_the_message() -> None:
    assert "\x1b" not in refusal("read_file", {"path": "x", "\x1b[2J": 1})
    assert "\0" not in refusal("read_file", {"path": "x", "a\0": 1})


class NoArgs(ToolArgs):
    pass


def tool_that(run: Any, **facts: Any) -> Tool:
    return Tool(name="probe", description="A probe.", args=NoArgs, run=run, **facts)


def raising(error: BaseException) -> Any:
    def run(args: NoArgs, ctx: ToolContext) -> str:
        raise error

    return run


def test_a_tool_that_fails_is_an_outcome_that_the_model_can_read(bench: Bench) -> None:
    tool = tool_that(raising(ToolFailed("not_found", "No such thing.")))

    outcome = execute(tool, NoArgs(), bench.context())

    assert outcome == Outcome("[error/not_found] No such thing.", CallStatus.FAILED)


@pytest.mark.parametrize("error", [RuntimeError("hunter2"), MemoryError(), OSError(5, "hunter2")])
def test_an_unexpected_exception_is_told_and_logged_without_its_text(
    bench: Bench, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    with caplog.at_level(logging.ERROR):
        outcome = execute(tool_that(raising(error)), NoArgs(), bench.context())

    assert outcome.text == "[error/internal] The tool failed; its effect is not known."
    assert outcome.status is CallStatus.FAILED
    assert "hunter2" not in caplog.text
    assert f"error={type(error).__name__}" in caplog.text


def test_an_interrupt_of_python_is_not_caught(bench: Bench) -> None:
    with pytest.raises(KeyboardInterrupt):
        execute(tool_that(raising(KeyboardInterrupt())), NoArgs(), bench.context())


def test_a_call_is_made_once_even_when_it_fails(bench: Bench) -> None:
    calls: list[int] = []

    def run(args: NoArgs, ctx: ToolContext) -> str:
        calls.append(1)
        raise TypeError

    execute(tool_that(run), NoArgs(), bench.context())

    assert calls == [1]


def test_the_evidence_and_the_preimage_are_of_one_state(bench: Bench) -> None:
    states = iter(["a", "b", "b", "b"])
    tool = tool_that(
        lambda args, ctx: "",
        evidence=lambda args, ctx: Evidence("title", "target"),
        preimage=lambda args, ctx: next(states),
    )

    assert present(tool, NoArgs(), bench.context()).preimage == "b"


def test_a_target_that_never_rests_is_not_presented(bench: Bench) -> None:
    states = iter(range(100))
    tool = tool_that(lambda args, ctx: "", preimage=lambda args, ctx: str(next(states)))

    with pytest.raises(ToolFailed) as refused:
        present(tool, NoArgs(), bench.context())

    assert refused.value.code == "evidence_changed"


def test_a_run_without_a_workspace_is_told_so(bench: Bench) -> None:
    ctx = bench.context()
    ctx.workspace = None

    text = bench.call("list_dir", ctx).text

    assert text == "[error/transport_unavailable] This run has no workspace."
