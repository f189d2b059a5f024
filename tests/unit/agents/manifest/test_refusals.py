"""What a manifest may not say: each refusal names file, line, column and what to do."""

from __future__ import annotations

import pytest

from agents.core.manifest.document import Document
from agents.core.manifest.problems import ManifestInvalid
from agents.core.manifest.shape import shape_of
from agents.core.manifest.unsupported import FIELDS, TOOLS
from tests.unit.agents.manifest.known import compiled, compiled_data, refusal

HEAD = "metadata: {name: a}\n"


def of_spec(line: str) -> str:
    return refusal(f"{HEAD}spec:\n  {line}\n").removeprefix("m.yaml:")


def of_rule(fields: str, tools: str = "[write_file, edit_file]") -> str:
    text = f"{HEAD}spec:\n  tools: {tools}\n  approvals:\n    - {{id: r, {fields}}}\n"
    return refusal(text).removeprefix("m.yaml:")


def of_metadata(field: str) -> str:
    return refusal(f"metadata:\n  name: a\n  {field}\n").removeprefix("m.yaml:")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("tool: []", "3:3: spec has no field 'tool' (did you mean tools?)"),
        ("systemPrompt: {}", "3:3: spec has no field 'systemPrompt' (did you mean system_prompt?)"),
        ("qqqqq: 1", "3:3: spec has no field 'qqqqq'"),
        (
            "limits: {max_toolcalls: 1}",
            "3:12: spec.limits has no field 'max_toolcalls' (did you mean max_tool_calls?)",
        ),
        (
            "limits: {max_tool_calls: 501}",
            "3:28: spec.limits.max_tool_calls must be at most 500, not 501",
        ),
        (
            "limits: {max_tool_calls: -1}",
            "3:28: spec.limits.max_tool_calls must be at least 0, not -1",
        ),
        (
            "limits: {max_tool_calls: true}",
            "3:28: spec.limits.max_tool_calls must be a whole number, not true",
        ),
        (
            "limits: {max_tool_calls: 2.0}",
            "3:28: spec.limits.max_tool_calls must be a whole number, not the number 2.0",
        ),
        (
            "limits: {max_tool_calls: '7'}",
            "3:28: spec.limits.max_tool_calls must be a whole number, not the text '7'",
        ),
        (
            "limits: {max_wall_clock_seconds: 0}",
            "3:36: spec.limits.max_wall_clock_seconds must be at least 1, not 0",
        ),
        (
            "limits: {max_wall_clock_seconds: 3601}",
            "3:36: spec.limits.max_wall_clock_seconds must be at most 3,600, not 3601",
        ),
        ("recursion_limit: 0", "3:20: spec.recursion_limit must be at least 1, not 0"),
        ("recursion_limit: 51", "3:20: spec.recursion_limit must be at most 50, not 51"),
        ("recursion_limit:", "3:19: spec.recursion_limit must be a whole number, not nothing"),
        ("tools: calculator", "3:10: spec.tools must be a list, not the text 'calculator'"),
        ("tools: {a: 1}", "3:10: spec.tools must be a list, not an object"),
        ("tools: [7]", "3:11: spec.tools[0] must be text, not the number 7; put quotes around it"),
        ("limits: 5", "3:11: spec.limits must be an object, not the number 5"),
        ("limits:", "3:10: spec.limits must be an object, not nothing"),
        (
            "model: {temperature: hot}",
            "3:24: spec.model.temperature must be a number, not the text 'hot'",
        ),
        ("model: {temperature: 2.5}", "3:24: spec.model.temperature must be at most 2.0, not 2.5"),
        ("model: {max_tokens: 0}", "3:23: spec.model.max_tokens must be at least 1, not 0"),
        ("model: {id: ''}", "3:15: spec.model.id must have at least 1 character"),
        (
            "system_prompt: Be kind.",
            "3:18: spec.system_prompt must be an object, not the text 'Be kind.'",
        ),
        (
            "execution: {mode: forever}",
            "3:21: spec.execution.mode must be transient or durable, not the text 'forever'",
        ),
        (
            "execution: {tools: both}",
            "3:22: spec.execution.tools must be sequential or parallel, not the text 'both'",
        ),
        (
            "execution: {resume_token_ttl_seconds: 604801}",
            "3:41: spec.execution.resume_token_ttl_seconds must be at most 604,800, not 604801",
        ),
        (
            "workspace: {scope: world}",
            "3:22: spec.workspace.scope must be thread, tenant or deployment, not the text 'world'",
        ),
        (
            "workspace: {scope: deployment}",
            "3:22: workspace scope deployment is not open to this tenant",
        ),
        ("pattern: deep", "3:12: pattern 'deep' is not supported by this build; it has react"),
        ("pattern: raect", "3:12: spec.pattern must be react, not the text 'raect'"),
        (
            "session: {strategy: 'windowed:8'}",
            "3:23: strategy 'windowed:8' is not supported by this build; it has full_replay",
        ),
        (
            "session: {strategy: some}",
            "3:23: spec.session.strategy must be full_replay, not the text 'some'",
        ),
        ("tools: [calulator]", "3:11: there is no tool 'calulator' (did you mean calculator?)"),
        ("tools: [zzz]", "3:11: there is no tool 'zzz'"),
        ("tools: [ask_user]", "3:11: tool ask_user is not supported by this build"),
        ("tools: [list_dir, list_dir]", "3:21: tool 'list_dir' is listed twice"),
    ],
)
def test_a_wrong_line_of_spec_is_refused_where_it_stands(line: str, said: str) -> None:
    assert of_spec(line) == said


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("", "5:7: spec.approvals[0].tools is missing"),
        ("tools: []", "5:22: spec.approvals[0].tools must have at least 1 entry"),
        ("tools: [writefile]", "5:23: there is no tool 'writefile' (did you mean write_file?)"),
        ("tools: [send_*]", "5:23: no tool matches 'send_*'; the rule would guard nothing"),
        (
            "tools: ['[we]rite_file']",
            (
                "5:23: spec.approvals[0].tools[0] may only hold letters, digits, dot, underscore, "
                "hyphen, * and ?: '[we]rite_file'"
            ),
        ),
        ("tools: [write_file, write_file]", "5:35: tool 'write_file' is listed twice"),
        (
            "tools: [write_file], ttl_seconds: 0",
            "5:49: spec.approvals[0].ttl_seconds must be at least 1, not 0",
        ),
        (
            "tools: [write_file], ttl_seconds: 604801",
            "5:49: spec.approvals[0].ttl_seconds must be at most 604,800, not 604801",
        ),
        (
            "tools: [write_file], ttl_seconds: 3601",
            (
                "5:49: ttl_seconds over 3,600 needs execution.mode durable: a transient run does "
                "not wait"
            ),
        ),
        (
            "tools: [write_file], quorum: 0",
            "5:44: spec.approvals[0].quorum must be at least 1, not 0",
        ),
        (
            "tools: [write_file], quorum: 6",
            "5:44: spec.approvals[0].quorum must be at most 5, not 6",
        ),
        (
            "tools: [write_file], one_shot: no",
            "5:46: spec.approvals[0].one_shot must be true or false, not the text 'no'",
        ),
        (
            "tools: [write_file], reviewers: [viewer]",
            (
                "5:48: spec.approvals[0].reviewers[0] must be operator, reviewer or admin, not the "
                "text 'viewer'"
            ),
        ),
        (
            "tools: [write_file], reviewers: []",
            "5:47: spec.approvals[0].reviewers must have at least 1 entry",
        ),
        ("tools: [write_file], reviewers: [admin, admin]", "5:55: role 'admin' is listed twice"),
        (
            "tools: [write_file], when_args: [apend]",
            (
                "5:48: tool write_file has no argument 'apend' (did you mean append?); the rule "
                "could never apply to it"
            ),
        ),
        (
            "tools: ['*_file'], when_args: [append]",
            "5:46: tool edit_file has no argument 'append'; the rule could never apply to it",
        ),
        ("tools: [write_file], when_args: [path, path]", "5:54: argument 'path' is listed twice"),
        (
            "tools: [write_file], reviewer: [admin]",
            "5:36: spec.approvals[0] has no field 'reviewer' (did you mean reviewers?)",
        ),
    ],
)
def test_a_wrong_approval_rule_is_refused_where_it_stands(fields: str, said: str) -> None:
    assert of_rule(fields) == said


@pytest.mark.parametrize(
    ("field", "said"),
    [
        (
            "version: 1.0",
            "3:12: metadata.version must be text, not the number 1.0; put quotes around it",
        ),
        (
            "tags: [a, 1]",
            "3:13: metadata.tags[1] must be text, not the number 1; put quotes around it",
        ),
        ("greeting: {subtitle: s}", "3:13: metadata.greeting.headline is missing"),
        (
            f"greeting: {{headline: {'h' * 81}}}",
            "3:24: metadata.greeting.headline must have at most 80 characters",
        ),
        (
            f"greeting: {{headline: h, subtitle: {'h' * 301}}}",
            "3:37: metadata.greeting.subtitle must have at most 300 characters",
        ),
        ("starters: [{title: t}]", "3:14: metadata.starters[0].prompt is missing"),
        (
            f"starters: [{{title: {'t' * 61}, prompt: p}}]",
            "3:22: metadata.starters[0].title must have at most 60 characters",
        ),
        (
            f"starters: [{{title: t, prompt: {'p' * 2001}}}]",
            "3:33: metadata.starters[0].prompt must have at most 2,000 characters",
        ),
        (
            "starters: [" + "{title: t, prompt: p}, " * 9 + "]",
            "3:13: metadata.starters must have at most 8 entries",
        ),
        (
            "starters: [{title: t, promt: p, prompt: p}]",
            "3:25: metadata.starters[0] has no field 'promt' (did you mean prompt?)",
        ),
        ("Name: b", "3:3: metadata has no field 'Name' (did you mean name?)"),
    ],
)
def test_wrong_metadata_is_refused_where_it_stands(field: str, said: str) -> None:
    assert of_metadata(field) == said


@pytest.mark.parametrize("name", ["a b", "ä", "a/b", "..", "-", "a\\n", "a'b"])
def test_a_name_of_other_characters_is_refused(name: str) -> None:
    said = refusal(f'metadata: {{name: "{name}"}}')

    assert said.startswith("m.yaml:1:18: metadata.name may only hold letters, digits, dot, ")


@pytest.mark.parametrize("name", ["a" * 128, "gpt-4.1_x", "7", ".a"])
def test_a_name_of_allowed_characters_is_taken(name: str) -> None:
    assert compiled_data({"metadata": {"name": name}}).name == name


def test_a_name_of_129_characters_is_refused() -> None:
    assert "must have at most 128 characters" in refusal(f"metadata: {{name: {'a' * 129}}}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("spec: {}", "1:1: metadata is missing"),
        ("metadata: {}", "1:11: metadata.name is missing"),
        (
            "apiVersion: felix/v2\n" + HEAD,
            "1:13: apiVersion must be felix/v1, not the text 'felix/v2'",
        ),
        ("kind: Job\n" + HEAD, "1:7: kind must be Agent, not the text 'Job'"),
        (
            "api_version: felix/v1\n" + HEAD,
            "1:1: a manifest has no field 'api_version' (did you mean apiVersion?)",
        ),
        (HEAD + "spec: []", "2:7: spec must be an object, not a list"),
    ],
)
def test_a_wrong_envelope_is_refused(text: str, said: str) -> None:
    assert refusal(text) == f"m.yaml:{said}"


FIELDS_NOT_BUILT = [(place, name) for place, names in FIELDS.items() for name in sorted(names)]


@pytest.mark.parametrize(("place", "name"), FIELDS_NOT_BUILT)
def test_a_field_of_felix_v1_that_is_not_built_is_refused_as_such(place: str, name: str) -> None:
    inner: dict[str, object] = {name: None}
    for part in reversed(place.split(".")):
        inner = {part: inner}

    _, problems = shape_of(Document({"metadata": {"name": "a"}, **inner}))

    assert [p.message for p in problems] == [f"{place}.{name} is not supported by this build"]


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_of_felix_v1_that_is_not_built_is_refused_as_such(name: str) -> None:
    assert of_spec(f"tools: [{name}]") == f"3:11: tool {name} is not supported by this build"


def test_a_rule_id_given_twice_is_refused() -> None:
    text = HEAD + "spec:\n  approvals:\n" + "    - {id: r, tools: [write_file]}\n" * 2

    assert refusal(text) == "m.yaml:5:12: approval id 'r' is given twice"


def test_more_than_sixty_four_rules_are_refused() -> None:
    rules = "".join(f"    - {{id: r{n}, tools: [write_file]}}\n" for n in range(65))

    assert "spec.approvals must have at most 64 entries" in of_spec("approvals:\n" + rules)


def test_a_rule_may_name_a_tool_that_the_agent_has_not() -> None:
    agent = compiled(f"{HEAD}spec: {{approvals: [{{id: r, tools: [edit_file]}}]}}")

    assert agent.rules[0].tools == ("edit_file",)


def test_a_long_deadline_is_taken_in_durable_mode() -> None:
    rule = "{id: r, tools: [edit_file], ttl_seconds: 604800}"

    agent = compiled(f"{HEAD}spec: {{execution: {{mode: durable}}, approvals: [{rule}]}}")

    assert agent.rules[0].ttl_seconds == 604_800


def test_deployment_scope_is_taken_from_a_listed_tenant() -> None:
    text = f"{HEAD}spec: {{workspace: {{scope: deployment}}}}"

    assert compiled(text, deployment_scope_allowed=True).workspace_scope == "deployment"


def test_everything_wrong_is_said_at_once_in_the_order_of_the_file() -> None:
    said = refusal("""\
        kind: Job
        metadata: {name: "a b"}
        spec:
          tools: [read_fil, calculator]
          approvals:
            - {id: r, tools: [write_file], ttl_seconds: 9000}
            - {id: r, tools: [nothing_*], quorum: 9}
          memory: {}
          recursion_limit: 99
        """)

    places = [line.split(": ")[0] for line in said.splitlines()]
    assert places == [
        "m.yaml:1:7",
        "m.yaml:2:18",
        "m.yaml:4:11",
        "m.yaml:6:49",
        "m.yaml:7:12",
        "m.yaml:7:23",
        "m.yaml:7:43",
        "m.yaml:8:3",
        "m.yaml:9:20",
    ]


def test_a_refusal_carries_its_problems_for_an_api_answer() -> None:
    with pytest.raises(ManifestInvalid) as caught:
        compiled(f"{HEAD}spec: {{approvals: [{{id: r, tools: [zzz]}}]}}")

    assert caught.value.code == "invalid_manifest"
    assert caught.value.fields["problems"] == [
        {
            "path": "spec.approvals[0].tools[0]",
            "line": 2,
            "column": 36,
            "message": "there is no tool 'zzz'",
        }
    ]


def test_an_invisible_character_of_a_key_is_spelt_out() -> None:
    assert "'na\\u202eme'" in refusal("metadata: {name: a, na\u202eme: b}")


def test_data_without_text_is_refused_at_its_start() -> None:
    with pytest.raises(ManifestInvalid) as caught:
        compiled_data({"metadata": {"name": "a"}, "sepc": {}})

    assert str(caught.value) == "manifest:1:1: a manifest has no field 'sepc' (did you mean spec?)"
