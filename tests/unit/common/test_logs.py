"""Logging: one line per record, no secret, nothing hidden, whoever wrote it."""

import json
import logging
import logging.config
from uuid import UUID

import pytest

from felix_web.logs import JsonLines, Readable, bind_request, current_ids, logging_settings


def record(event, /, *args, exc_info=None, **fields):
    made = logging.LogRecord("agents.driver", logging.INFO, __file__, 1, event, args, exc_info)
    made.__dict__.update(fields)
    return made


def as_json(*args, **fields):
    line = JsonLines().format(record(*args, **fields))
    assert "\n" not in line
    assert line.isascii()
    return json.loads(line)


def raised(message):
    try:
        raise RuntimeError(message)
    except RuntimeError as error:
        return type(error), error, error.__traceback__


def test_the_event_comes_first_and_ids_are_fields():
    found = as_json("run_interrupted", run_id="run_1", steps=3)

    assert next(iter(found)) == "event"
    assert (found["event"], found["run_id"], found["steps"]) == ("run_interrupted", "run_1", 3)
    assert (found["level"], found["logger"]) == ("info", "agents.driver")


def test_times_are_utc():
    made = record("tick")
    made.created = 0.25

    assert json.loads(JsonLines().format(made))["at"] == "1970-01-01T00:00:00.250Z"


def test_ids_are_carried_by_everything_inside_and_by_nothing_after():
    with bind_request(tenant="acme", run_id=None):
        with bind_request(request_id="req_1", tenant="other"):
            inner = as_json("tick")
        outer = as_json("tick", tenant="said")

    assert (inner["tenant"], inner["request_id"]) == ("other", "req_1")
    assert outer["tenant"] == "said"
    assert "run_id" not in outer
    assert current_ids() == {}


def test_a_field_cannot_replace_the_event():
    assert as_json("tick", event="forged", at="never")["event"] == "tick"


def test_secrets_are_masked_by_shape_and_by_name():
    found = as_json("asked %s", "sk-abcdefgh1234", api_key="x", call={"password": "y", "n": 1})

    assert found["event"] == "asked ***"
    assert found["api_key"] == "***"
    assert found["call"] == {"password": "***", "n": 1}


def test_a_traceback_is_in_the_line_and_holds_no_secret():
    found = as_json("failed", exc_info=raised("no entry with sk-abcdefgh1234\x1b[2J"))

    assert "RuntimeError: no entry with ***<ESC>[2J" in found["traceback"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (float("nan"), "nan"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (object(), "<object>"),
        (b"secret", "<bytes>"),
        ({"a": [1, ("b",)]}, {"a": [1, ["b"]]}),
        (ValueError("x"), "ValueError: x"),
        ("\ud800", "<U+D800>"),
        (None, None),
    ],
)
def test_any_value_can_be_logged(value, shown):
    assert as_json("tick", value=value)["value"] == shown


def test_long_and_deep_values_are_cut():
    deep = []
    for _ in range(50):
        deep = [deep]

    found = as_json("tick", text="a" * 5000, deep=deep)

    assert found["text"].endswith("… (1000 more characters)")
    assert found["deep"] == [[[["<list>"]]]]


def test_a_message_whose_arguments_do_not_fit_is_still_logged():
    assert as_json("took %d", "long")["event"] == "took %d"


def test_a_forged_line_stays_inside_its_own():
    line = Readable().format(record("asked %s", "x\n12:00 INFO run_approved", task="a b\nc"))

    assert "\n" not in line
    assert "asked x<LF>12:00 INFO run_approved" in line
    assert 'task="a b<LF>c"' in line


def test_each_line_of_a_traceback_is_behind_a_gutter():
    lines = Readable().format(record("failed", exc_info=raised("a\nforged"))).split("\n")

    assert "failed" in lines[0]
    assert all(line.startswith("    | ") for line in lines[1:])
    assert "    | forged" in lines


@pytest.mark.parametrize(("log_format", "first"), [("json", '{"event": "ready"'), ("text", "")])
def test_the_settings_send_every_record_once_to_stderr(capsys, log_format, first):
    before = logging.root.handlers[:], logging.root.level
    try:
        logging.config.dictConfig(logging_settings(log_format=log_format))
        logging.getLogger("agents.driver").info("ready")
        logging.getLogger("django.request").error("lost")
        logging.getLogger("openai").info("body")
    finally:
        logging.root.handlers[:], level = before
        logging.root.setLevel(level)

    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(first)
    assert [err.count(word) for word in ("ready", "lost", "body")] == [1, 1, 0]
