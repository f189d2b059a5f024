"""The front half: arguments, limits, approval, in this order; what cannot be judged is denied."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.core.controls.base import Allow, Ask, Deny, Later, Policy, Verdict
from agents.core.controls.front import evaluate
from agents.core.limits import Limits
from agents.core.store import GrantView
from agents.core.tools.base import INTERRUPTED, ToolFailed
from agents.core.view import RunView
from approvals.core.gate import GateStatus
from approvals.core.rules import ApprovalRule
from felix_web.common.digests import digest
from sessions.core.events import EventKind
from sessions.core.states import CallStatus
from tests.unit.agents.facts import (
    answered,
    contract,
    event,
    gate,
    policy,
    result,
    started,
    tools,
    view,
)

WRITES = ApprovalRule("writes", description="files change", tools=("write",))
STANDING = replace(WRITES, one_shot=False)


def verdicts(seen: RunView, by: Policy) -> list[Verdict]:
    return evaluate(list(seen.open_calls.values()), seen, by)


def the_verdict(seen: RunView, by: Policy) -> Verdict:
    [verdict] = verdicts(seen, by)
    return verdict


def refusal(verdict: Verdict) -> str:
    assert isinstance(verdict, Deny)
    return verdict.outcome.text


def kinds(found: list[Verdict]) -> list[type[Verdict]]:
    return [type(verdict) for verdict in found]


def proposed(tool: str, args: dict[str, Any], **more: Any) -> RunView:
    payload = {"tool_calls": [{"id": "c0", "name": tool, "args": args, **more}]}
    return view(event(EventKind.ASSISTANT_MESSAGE, {**payload, "stop_reason": "tool_use"}))


def grant(**more: Any) -> GrantView:
    bound = {"args_digest": digest({"path": "a"}), "tool_digest": tools()["write"].digest}
    source = {"grant_id": "g", "gate_id": "gate_1", "rule_id": "writes", "granted_by": "bob"}
    on = {"tool": "write", "preimage": "absent", "principal": ""}
    return GrantView(**{**source, **on, **bound, **more})


# Arguments.


def test_a_call_of_an_unknown_tool_is_denied_with_the_names_of_the_known_ones():
    text = refusal(the_verdict(proposed("wipe", {}), policy()))

    assert "wipe" in text
    assert "look, again, act, write" in text


@pytest.mark.parametrize("args", [{}, {"path": 3}, {"path": "a", "force": True}])
def test_arguments_that_do_not_fit_are_denied(args: dict[str, Any]):
    assert refusal(the_verdict(proposed("act", args), policy())).startswith(
        "[error/invalid_arguments]"
    )


def test_arguments_that_were_no_object_are_denied_with_the_reason():
    seen = proposed("act", {}, args_error="not a JSON object")

    assert "not a JSON object" in refusal(the_verdict(seen, policy()))


def test_nobody_is_asked_about_a_call_with_bad_arguments():
    assert isinstance(the_verdict(proposed("write", {"path": 3}), policy(WRITES)), Deny)


# Limits.


def test_the_call_after_the_last_allowed_one_is_denied():
    seen = view(answered("act", "act", "act"), result("c0"), limits=Limits(max_tool_calls=2))

    assert kinds(verdicts(seen, policy())) == [Allow, Deny]


def test_a_limit_of_zero_allows_no_call():
    seen = view(answered("look"), limits=Limits(max_tool_calls=0))

    assert refusal(the_verdict(seen, policy())).startswith("[error/limit]")


def test_nobody_is_asked_about_a_call_beyond_the_limit():
    seen = view(answered("act", "write"), limits=Limits(max_tool_calls=1))

    assert kinds(verdicts(seen, policy(WRITES))) == [Allow, Deny]


def test_a_call_that_is_asked_about_keeps_its_place_in_the_limit():
    seen = view(answered("write", "look"), gates=[gate("c0")], limits=Limits(max_tool_calls=1))

    found = evaluate([seen.open_calls["c1"]], seen, policy(WRITES))

    assert kinds(found) == [Deny]


# Approval.


def test_a_call_that_no_rule_names_is_allowed():
    assert isinstance(the_verdict(view(answered("act")), policy(WRITES)), Allow)


def test_a_gated_call_is_asked_about_with_its_whole_contract():
    verdict = the_verdict(view(answered("write")), policy(WRITES))

    assert isinstance(verdict, Ask)
    assert verdict.draft.contract == contract()
    assert (verdict.draft.rule_id, verdict.draft.reason) == ("writes", "files change")


def test_a_rule_that_binds_the_principal_puts_it_into_the_contract():
    verdict = the_verdict(view(answered("write")), policy(replace(WRITES, bind_principal=True)))

    assert isinstance(verdict, Ask)
    assert verdict.draft.contract.principal == "member:1"


def test_an_approval_that_still_holds_lets_the_call_pass():
    seen = view(answered("write"), gates=[gate(status=GateStatus.ANSWERED)])

    verdict = the_verdict(seen, policy(WRITES))

    assert isinstance(verdict, Allow)
    assert verdict.candidate.gate is seen.gates["c0"]


BOUND_PARTS = {
    "tenant_id": 2,
    "run_id": "run_2",
    "call_id": "c9",
    "tool": "act",
    "args_digest": "other",
    "tool_digest": "other",
    "manifest": "reader",
    "manifest_version": 2,
    "preimage": "other",
    "principal": "member:2",
}


@pytest.mark.parametrize("part", BOUND_PARTS)
def test_an_approval_with_any_other_bound_part_is_asked_for_again(part: str):
    bound = replace(contract(), **{part: BOUND_PARTS[part]})
    seen = view(answered("write"), gates=[gate(status=GateStatus.ANSWERED, bound=bound)])

    assert isinstance(the_verdict(seen, policy(WRITES)), Ask)


def test_every_part_of_the_contract_is_in_the_table_above():
    assert set(BOUND_PARTS) == set(contract().__slots__)


@pytest.mark.parametrize("part", BOUND_PARTS)
def test_every_part_of_the_contract_is_in_its_digest(part: str):
    assert replace(contract(), **{part: BOUND_PARTS[part]}).digest != contract().digest


def test_an_approval_under_another_rule_than_the_one_that_holds_is_asked_for_again():
    strict = ApprovalRule("strict", tools=("write",), when_args=("text",), quorum=2)
    args = {"path": "a", "text": "mine"}
    bound = contract(args_digest=digest(args))
    settled = gate(status=GateStatus.ANSWERED, bound=bound, edited_args=args)

    verdict = the_verdict(view(answered("write"), gates=[settled]), policy(strict, WRITES))

    assert isinstance(verdict, Ask)
    assert (verdict.draft.rule_id, verdict.draft.quorum) == ("strict", 2)


def test_a_spent_approval_is_asked_for_again():
    seen = view(answered("write"), gates=[gate(status=GateStatus.ANSWERED, is_spent=True)])

    assert isinstance(the_verdict(seen, policy(WRITES)), Ask)


def test_a_withdrawn_gate_is_asked_for_again():
    seen = view(answered("write"), gates=[gate(status=GateStatus.WITHDRAWN)])

    assert isinstance(the_verdict(seen, policy(WRITES)), Ask)


def test_a_denial_reaches_the_model_with_who_and_why():
    settled = gate(status=GateStatus.DENIED, decided_by="bob", note='Not "now"\nasks me')

    text = refusal(the_verdict(view(answered("write"), gates=[settled]), policy(WRITES)))

    assert text.startswith("[error/denied] bob denied this call. It was not run.")
    assert 'Not "now"\nasks me' in text


def test_an_expired_gate_tells_the_model_that_time_denied_it():
    seen = view(answered("write"), gates=[gate(status=GateStatus.EXPIRED)])

    assert "denied by time" in refusal(the_verdict(seen, policy(WRITES)))


def test_a_denied_call_stays_denied_when_its_rule_is_gone():
    seen = view(answered("write"), gates=[gate(status=GateStatus.DENIED)])

    assert isinstance(the_verdict(seen, policy()), Deny)


def test_edited_arguments_stand_in_for_the_models():
    args = {"path": "a", "text": "mine"}
    bound = contract(args_digest=digest(args))
    settled = gate(status=GateStatus.ANSWERED, bound=bound, edited_args=args)

    verdict = the_verdict(view(answered("write"), gates=[settled]), policy(WRITES))

    assert isinstance(verdict, Allow)
    assert verdict.candidate.args_json == args


def test_edited_arguments_go_through_the_whole_front_half():
    settled = gate(status=GateStatus.ANSWERED, edited_args={"path": 3})

    seen = view(answered("write"), gates=[settled])

    assert refusal(the_verdict(seen, policy(WRITES))).startswith("[error/invalid_arguments]")


def test_an_edited_call_that_is_asked_about_again_stays_edited():
    args = {"path": "a", "text": "mine"}
    bound = contract(args_digest=digest(args), preimage="as it was")
    first = gate(status=GateStatus.ANSWERED, bound=bound, edited_args=args)

    asked = the_verdict(view(answered("write"), gates=[first]), policy(WRITES))

    assert isinstance(asked, Ask)
    assert asked.draft.args == args
    second = gate(status=GateStatus.ANSWERED, bound=asked.draft.contract, args=args)
    again = the_verdict(view(answered("write"), gates=[first, second]), policy(WRITES))
    assert isinstance(again, Allow)
    assert again.candidate.args_json == args


def test_a_run_that_nobody_attends_is_denied_at_once():
    seen = view(answered("write"), is_attended=False)

    assert "nobody attends" in refusal(the_verdict(seen, policy(WRITES)))


def test_a_rule_may_let_an_unattended_run_wait():
    seen = view(answered("write"), is_attended=False)

    assert isinstance(the_verdict(seen, policy(replace(WRITES, allow_unattended=True))), Ask)


# Grants.


def test_a_grant_lets_the_identical_call_pass():
    verdict = the_verdict(view(answered("write")), policy(STANDING, grants=[grant()]))

    assert isinstance(verdict, Allow)
    assert verdict.candidate.grant == grant()


@pytest.mark.parametrize(
    "other",
    [
        {"args_digest": "x"},
        {"tool_digest": "x"},
        {"tool": "act"},
        {"principal": "member:2"},
        {"preimage": "other"},
        {"rule_id": "others"},
    ],
)
def test_a_grant_for_anything_else_does_not(other: dict[str, str]):
    found = the_verdict(view(answered("write")), policy(STANDING, grants=[grant(**other)]))

    assert isinstance(found, Ask)


def test_a_grant_does_not_answer_for_a_call_that_is_asked_about_again():
    seen = view(answered("write"), gates=[gate(status=GateStatus.WITHDRAWN)])

    assert isinstance(the_verdict(seen, policy(STANDING, grants=[grant()])), Ask)


def test_a_grant_is_not_enough_where_the_preimage_cannot_be_read():
    def unreadable(args: object, ctx: object) -> str:
        raise ToolFailed("permission_denied", "No.")

    known = {**tools(), "write": replace(tools()["write"], preimage=unreadable)}
    by = policy(STANDING, grants=[grant()], known=known)

    assert refusal(the_verdict(view(answered("write")), by)) == "[error/permission_denied] No."


def test_a_rule_of_one_execution_knows_no_grant():
    assert isinstance(the_verdict(view(answered("write")), policy(WRITES, grants=[grant()])), Ask)


# Several calls of one message.


def test_all_gates_of_a_message_are_asked_for_together():
    seen = view(answered("write:a", "look", "write:b", "write:c"))

    assert kinds(verdicts(seen, policy(WRITES))) == [Ask, Allow, Ask, Ask]


def test_a_call_whose_preimage_an_earlier_one_may_change_is_asked_about_later():
    seen = view(answered("write:a", "write:a"))

    assert kinds(verdicts(seen, policy(WRITES))) == [Ask, Later]


def test_it_is_asked_about_once_the_earlier_one_has_its_result():
    seen = view(answered("write:a", "write:a"), result("c0"))

    assert kinds(verdicts(seen, policy(WRITES))) == [Ask]


def test_a_call_behind_a_denied_one_is_asked_about_at_once():
    denied = gate("c0", GateStatus.DENIED)
    seen = view(answered("write:a", "write:a"), gates=[denied])

    assert kinds(verdicts(seen, policy(WRITES))) == [Deny, Ask]


def test_a_call_that_only_reads_delays_nobodys_gate():
    seen = view(answered("look:a", "write:a"))

    assert kinds(verdicts(seen, policy(WRITES))) == [Allow, Ask]


def test_a_gated_call_without_a_preimage_is_asked_about_with_the_others():
    reads = ApprovalRule("reads", tools=("look", "write"))

    assert kinds(verdicts(view(answered("write:a", "look:a")), policy(reads))) == [Ask, Ask]


# After a crash.


def test_a_started_call_with_an_effect_is_not_run_again():
    seen = view(answered("act"), started("c0", tool="act"))

    verdict = the_verdict(seen, policy())

    assert isinstance(verdict, Deny)
    assert verdict.outcome.status is CallStatus.INTERRUPTED
    assert refusal(verdict) == INTERRUPTED


@pytest.mark.parametrize("tool", ["look", "again"])
def test_a_started_call_that_is_replay_safe_is_run_again(tool: str):
    seen = view(answered(tool), started("c0", tool=tool))

    verdict = the_verdict(seen, policy())

    assert isinstance(verdict, Allow)
    assert verdict.candidate.is_resumed


def test_a_repeated_execution_goes_on_under_the_approval_it_began_with():
    rule = ApprovalRule("writes", tools=("again",))
    spent = gate(status=GateStatus.ANSWERED, tool="again", is_spent=True)
    seen = view(answered("again"), started("c0"), gates=[spent])

    assert isinstance(the_verdict(seen, policy(rule)), Allow)


@pytest.mark.parametrize("part", ["tool_digest", "args_digest"])
def test_a_started_call_that_is_another_one_now_is_asked_about_again(part: str):
    rule = ApprovalRule("writes", tools=("again",))
    spent = gate(status=GateStatus.ANSWERED, tool="again", is_spent=True)
    seen = view(answered("again"), started("c0", **{part: "other"}), gates=[spent])

    assert isinstance(the_verdict(seen, policy(rule)), Ask)


def test_a_started_call_that_is_another_one_now_is_held_to_the_limits():
    seen = view(
        answered("again"), started("c0", args_digest="other"), limits=Limits(max_tool_calls=0)
    )

    assert refusal(the_verdict(seen, policy())).startswith("[error/limit]")


def test_a_call_that_was_not_safe_to_repeat_when_it_started_is_not_run_again():
    seen = view(answered("again"), started("c0", replay_safe=False, tool_digest="other"))

    assert refusal(the_verdict(seen, policy())) == INTERRUPTED


def test_a_started_call_that_cannot_be_judged_is_denied():
    def broken() -> object:
        raise RuntimeError("secret detail")

    known = {**tools(), "again": replace(tools()["again"], args=broken)}
    seen = view(answered("again"), started("c0"))

    assert "could not be evaluated" in refusal(the_verdict(seen, policy(known=known)))


def test_a_started_call_whose_tool_is_gone_is_not_run_again():
    seen = view(answered("gone"), started("c0"))

    assert refusal(the_verdict(seen, policy())) == INTERRUPTED


# What cannot be judged.


def test_a_control_that_breaks_denies_the_call_and_only_it():
    def broken(args: object, ctx: object) -> str:
        raise RuntimeError("secret detail")

    known = {**tools(), "write": replace(tools()["write"], preimage=broken)}
    seen = view(answered("write", "look"))

    found = verdicts(seen, policy(WRITES, known=known))

    assert kinds(found) == [Deny, Allow]
    assert "secret" not in refusal(found[0])


def test_a_preimage_that_cannot_be_read_is_a_result_and_not_a_question():
    def unreadable(args: object, ctx: object) -> str:
        raise ToolFailed("permission_denied", "No.")

    known = {**tools(), "write": replace(tools()["write"], preimage=unreadable)}

    text = refusal(the_verdict(view(answered("write")), policy(WRITES, known=known)))

    assert text == "[error/permission_denied] No."
