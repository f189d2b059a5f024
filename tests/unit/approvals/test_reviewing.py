"""Who may decide, and what the words of several members make of a gate."""

from __future__ import annotations

import pytest

from approvals.core.gate import Decision, GateStatus
from approvals.core.reviewing import Reviewer, Terms, outcome, why_not

APPROVE, DENY = Decision.APPROVE, Decision.DENY
OWNER = Reviewer("member:1", "operator", True)
OTHER_OPERATOR = Reviewer("member:2", "operator", True)
REVIEWER = Reviewer("member:3", "reviewer", True)
VIEWER_OWNER = Reviewer("member:1", "viewer", True)
OWNING_REVIEWER = Reviewer("member:1", "reviewer", True)
BOT = Reviewer("key:7", "", False)


def terms(**more: object) -> Terms:
    given = {"reviewers": ("reviewer", "admin"), "quorum": 1, "allow_self": True}
    people = {"starter": "member:1", "owner": "member:1"}
    return Terms(**{**given, **people, **more})


@pytest.mark.parametrize(
    ("who", "demanded", "refusal"),
    [
        (REVIEWER, terms(), ""),
        (OWNER, terms(), ""),
        (OTHER_OPERATOR, terms(), "not_a_reviewer"),
        (VIEWER_OWNER, terms(), "not_a_reviewer"),
        (REVIEWER, terms(reviewers=("admin",)), "not_a_reviewer"),
        (OWNER, terms(allow_self=False), "no_self_approval"),
        (OWNING_REVIEWER, terms(allow_self=False), "no_self_approval"),
        (OWNING_REVIEWER, terms(allow_self=False, owner="member:9"), "no_self_approval"),
        (REVIEWER, terms(allow_self=False), ""),
        (BOT, terms(), ""),
        (BOT, terms(quorum=2), "needs_a_member"),
        (BOT, terms(allow_self=False), "needs_a_member"),
        (BOT, terms(reviewers=("admin",)), "needs_a_member"),
        (BOT, terms(reviewers=("admin", "reviewer")), ""),
        (BOT, terms(starter="key:7"), "needs_a_member"),
        (BOT, terms(owner="key:7"), "needs_a_member"),
    ],
)
def test_the_rule_says_who_may_decide(who: Reviewer, demanded: Terms, refusal: str):
    assert why_not(demanded, who) == refusal


@pytest.mark.parametrize(
    ("quorum", "words", "status"),
    [
        (1, [], GateStatus.WAITING),
        (1, [APPROVE], GateStatus.ANSWERED),
        (2, [APPROVE], GateStatus.WAITING),
        (2, [APPROVE, APPROVE], GateStatus.ANSWERED),
        (3, [APPROVE, APPROVE, DENY], GateStatus.DENIED),
        (2, [DENY], GateStatus.DENIED),
    ],
)
def test_one_denial_denies_and_a_quorum_approves(
    quorum: int, words: list[Decision], status: GateStatus
):
    assert outcome(quorum, words) is status
