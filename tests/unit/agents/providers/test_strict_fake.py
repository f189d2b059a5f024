"""The fake itself: what it refuses, what it says without a script, and its control routes."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.fakes.provider import FakeProvider, Step, ThinkingBlock, call

USER = {"role": "user", "content": "hello"}


def made(*ids: str, **fields: Any) -> dict[str, Any]:
    calls = [
        {"id": i, "type": "function", "function": {"name": "look", "arguments": "{}"}} for i in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls, **fields}


def result(call_id: str, content: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def tool(name: str = "look", **fields: Any) -> dict[str, Any]:
    function = {"name": name, "parameters": {"type": "object"}, **fields}
    return {"type": "function", "function": function}


def http(url: str, body: Any = None) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data), timeout=5) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def send(fake: FakeProvider, *messages: Any, **fields: Any) -> tuple[int, Any]:
    body = {"model": "fake-1", "messages": list(messages), **fields}
    return http(f"{fake.base_url}/chat/completions", body)


def message_of(answer: tuple[int, Any]) -> dict[str, Any]:
    assert answer[0] == 200, answer
    message: dict[str, Any] = answer[1]["choices"][0]["message"]
    return message


SOUND = [USER, made("a", "b"), result("a"), result("b"), made("c"), result("c")]


def test_a_sound_transcript_is_answered(fake: FakeProvider) -> None:
    answer = send(fake, {"role": "system", "content": "s"}, *SOUND, tools=[tool()])

    assert message_of(answer)["content"] == "You said: hello"
    assert fake.violations == []


def with_arguments(arguments: Any) -> dict[str, Any]:
    function = {"name": "look", "arguments": arguments}
    calls = [{"id": "a", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


@pytest.mark.parametrize(
    ("messages", "finding"),
    [
        ([], "must be a list and not empty"),
        ([USER, {"role": "system", "content": "s"}, USER], "a system message may only come first"),
        ([{"role": "judge", "content": "x"}], "role: must be one of"),
        ([USER, {"role": "assistant", "content": "x"}], "the last message must be"),
        ([{"role": "assistant", "content": "x"}, USER], "must follow one of role user or tool"),
        ([USER, made("a")], "the calls a have no result"),
        ([USER, made("a"), USER], "the calls a must have their results first"),
        ([USER, made("a", "b"), result("a"), USER], "the calls b must have their results first"),
        ([USER, made("a", "b"), result("b"), result("a")], "comes before that of an earlier call"),
        ([USER, made("a"), result("a"), result("a")], "a second result of the call 'a'"),
        ([USER, made("a"), result("x"), result("a")], "'x', which nobody made"),
        ([USER, result("x")], "'x', which nobody made"),
        ([USER, made("a"), result("a"), made("a"), result("a")], "'a' a second time"),
        ([USER, made("a", "a"), result("a")], "'a' a second time"),
        ([USER, made(""), USER], "id: must be a text"),
        ([{"role": "user", "content": " "}], "content: must be a text and not empty"),
        ([USER, made("a"), result("a", "")], "content: must be a text and not empty"),
        ([USER, {"role": "assistant", "content": None}, USER], "must have content or tool calls"),
        ([USER, {"role": "assistant", "content": ""}, USER], "must be null, or a text"),
        ([USER, made(), USER], "tool_calls: must be a list and not empty"),
        ([USER, with_arguments("[]"), result("a")], "must be the text of a JSON object"),
        ([USER, with_arguments("{"), result("a")], "must be the text of a JSON object"),
        ([USER, with_arguments({}), result("a")], "must be the text of a JSON object"),
        ([{**USER, "seq": 3}], "unknown key 'seq'"),
        ([USER, made("a", thinking=[]), result("a")], "unknown key 'thinking'"),
        ([USER, made("a", reasoning_details=[]), result("a")], "must not be empty"),
        ([USER, made("a", reasoning_details=[{"signature": "x"}]), result("a")], "not the signed"),
    ],
)
def test_an_unsound_transcript_is_refused(
    fake: FakeProvider, messages: list[Any], finding: str
) -> None:
    status, answer = send(fake, *messages)

    assert status == 400
    assert set(answer["error"]) == {"message", "type", "param", "code"}
    assert any(finding in violation for violation in fake.violations), fake.violations


@pytest.mark.parametrize(
    ("fields", "finding"),
    [
        ({"tools": []}, "tools: must be a list and not empty"),
        ({"tools": [{"type": "function"}]}, "tools[0]: must be of type function"),
        ({"tools": [tool("two words")]}, "tools[0].name"),
        ({"tools": [tool(), tool()]}, "the name 'look' a second time"),
        ({"tools": [tool(parameters={})]}, "tools[0].parameters"),
        ({"tools": [tool(description=3)]}, "tools[0].description"),
        ({"stream_options": {}}, "only allowed when stream is true"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"temperature": 3}, "temperature"),
        ({"thinking": True}, "thinking: unrecognized argument"),
        ({"model": ""}, "model"),
    ],
)
def test_an_unsound_request_is_refused(
    fake: FakeProvider, fields: dict[str, Any], finding: str
) -> None:
    status, _ = send(fake, USER, **fields)

    assert status == 400
    assert any(finding in violation for violation in fake.violations), fake.violations


def signed(fake: FakeProvider) -> dict[str, Any]:
    fake.script(Step(thinking=(ThinkingBlock("hm"), ThinkingBlock("so")), calls=(call("look"),)))
    return message_of(send(fake, USER))


def returned(fake: FakeProvider, message: dict[str, Any]) -> int:
    return send(fake, USER, message, result(message["tool_calls"][0]["id"]))[0]


def test_signatures_returned_unchanged_are_accepted(fake: FakeProvider) -> None:
    assert returned(fake, signed(fake)) == 200


def test_a_changed_swapped_dropped_or_moved_signature_is_refused(fake: FakeProvider) -> None:
    message = signed(fake)
    first, second = message["reasoning_details"]

    assert returned(fake, {**message, "reasoning_details": [{**first, "text": "h"}, second]}) == 400
    assert returned(fake, {**message, "reasoning_details": [second, first]}) == 400
    assert returned(fake, {**message, "reasoning_details": [first]}) == 400
    assert returned(fake, {**message, "content": "other words"}) == 400
    assert returned(fake, {k: v for k, v in message.items() if k != "reasoning_details"}) == 400


def test_lines_of_the_user_become_calls_and_then_an_end(fake: FakeProvider) -> None:
    task = {"role": "user", "content": 'call look {"a": 1}\ncall look\nthen\ncall peek {}'}

    first = message_of(send(fake, task))
    ids = [c["id"] for c in first["tool_calls"]]
    so_far = [task, first, *(result(i) for i in ids)]
    second = message_of(send(fake, *so_far))
    so_far += [second, result(second["tool_calls"][0]["id"])]

    assert [c["function"]["arguments"] for c in first["tool_calls"]] == ['{"a": 1}', "{}"]
    assert second["tool_calls"][0]["function"]["name"] == "peek"
    assert message_of(send(fake, *so_far))["content"] == "done: 3 results"
    assert fake.violations == []


def test_lines_may_say_think_and_set_fields(fake: FakeProvider) -> None:
    lines = 'say hello\nthink hm\nwith {"finish": "length"}'

    _, answer = send(fake, {"role": "user", "content": lines})

    choice = answer["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("hello", "length")
    assert choice["message"]["reasoning_details"][0]["signature"]


def test_a_line_that_cannot_be_read_is_a_400_and_not_a_dead_connection(fake: FakeProvider) -> None:
    assert send(fake, {"role": "user", "content": "with {"})[0] == 400


def test_a_step_waits_for_the_request_it_matches(fake: FakeProvider) -> None:
    fake.script(Step(match="second", text="two"), Step(text="one"))

    first = send(fake, {"role": "user", "content": "the first"})
    second = send(fake, {"role": "user", "content": "the second"})

    assert (message_of(first)["content"], message_of(second)["content"]) == ("one", "two")


def test_a_function_of_the_request_may_choose(fake: FakeProvider) -> None:
    fake.script_by(lambda body: Step(text=body["model"]))

    assert message_of(send(fake, USER))["content"] == "fake-1"


def test_a_delay_comes_before_the_first_byte(fake: FakeProvider) -> None:
    fake.script(Step(text="x", delay_ms=60))
    began = time.monotonic()

    send(fake, USER)

    assert time.monotonic() - began >= 0.06


def test_what_was_recorded_tells_the_whole_request(fake: FakeProvider) -> None:
    send(fake, USER)

    (record,) = fake.requests
    assert record.body["messages"] == [USER]
    assert record.headers["content-type"]
    assert abs(record.at - time.time()) < 60
    assert fake.wait_until(lambda: record.has_ended)
    assert (record.status, record.disconnected) == (200, False)


def test_another_process_can_script_it_and_read_its_records() -> None:
    command = [sys.executable, "-m", "tests.fakes.provider"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        root = base_url.removesuffix("/v1")

        queued = http(f"{root}/script", {"steps": [Step(status=503).as_json(), {"text": "hi"}]})
        refused = http(f"{root}/script", {"steps": [{"txt": "hi"}]})
        body = {"model": "fake-1", "messages": [USER]}
        answers = [http(f"{base_url}/chat/completions", body)[0] for _ in range(2)]
        _, records = http(f"{root}/requests")
        http(f"{root}/reset", {})
        _, nothing = http(f"{root}/requests")
        process.terminate()

    assert (queued[0], refused[0], answers) == (200, 400, [503, 200])
    assert [record["status"] for record in records] == [503, 200]
    assert nothing == []
