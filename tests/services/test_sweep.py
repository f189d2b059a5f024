"""What the sweep finds to do: calls nobody will end, runs of people who left, rows nobody needs."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents.core.executing import GRACE_SECONDS
from agents.core.store import LeaseLost
from agents.core.tools.paths import WorkspaceScope, workspace_root
from agents.core.tools.removing import remove_tree
from agents.services import driving, sweeping
from agents.services.claiming import Claimed, take_run
from agents.services.stopping import abort_run
from agents.services.sweeping import sweep
from agents.services.tidying import EPHEMERAL_SECONDS
from approvals.core.gate import GateStatus
from felix_web.audit.models import AuditEvent
from felix_web.tenancy.models import ApiKey, Membership, User
from felix_web.tenancy.scoping import database_now
from sessions.core.states import RunStatus
from sessions.models import Event, IdempotencyKey, Run, Thread
from sessions.services.runs import renew_leases, still_driven
from tests import make, people
from tests.services.test_log_runs import CALL, begin, end_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def row() -> Run:
    make.manifest()
    return make.run()


def under_way(row: Run) -> Claimed:
    """A worker holds the run, and its one call has been started."""
    taken = make.claimed(row)
    make.answered(taken, "", [CALL])
    begin(taken)
    return taken


def results(row: Run) -> list[str]:
    found = Event.objects.filter(thread=row.thread, kind="tool_result").order_by("seq")
    return [event.payload["status"] for event in found]


def ago(seconds: float) -> Any:
    return database_now() - timedelta(seconds=seconds)


# Calls of stopped runs.


def stopped_in_a_call(row: Run, *, lease_over_for: float) -> Claimed:
    taken = under_way(row)
    abort_run(principal=people.alice(), thread=row.thread)
    Run.objects.filter(pk=row.pk).update(lease_until=ago(lease_over_for))
    return taken


def test_a_started_call_of_a_stopped_run_is_closed_once_its_driver_had_its_time(row: Run):
    stopped_in_a_call(row, lease_over_for=GRACE_SECONDS + 1)

    sweep()
    sweep()

    assert results(row) == ["interrupted"]


def test_until_then_its_true_result_is_taken(row: Run):
    taken = stopped_in_a_call(row, lease_over_for=GRACE_SECONDS - 3)

    sweep()
    driving.result(taken.claim, [end_of()], [])

    assert results(row) == ["done"]


def test_a_result_that_comes_after_that_is_evidence_in_the_audit_alone(row: Run):
    taken = stopped_in_a_call(row, lease_over_for=GRACE_SECONDS + 1)
    sweep()

    driving.result(taken.claim, [end_of()], [])

    assert results(row) == ["interrupted"]
    assert AuditEvent.objects.get(act="late_result").facts["status"] == "done"


def test_the_calls_of_the_next_run_are_left_alone(row: Run):
    stopped_in_a_call(row, lease_over_for=GRACE_SECONDS + 1)
    following = make.run(text="again")
    taken = make.claimed(following)
    make.answered(taken, "", [{**CALL, "id": "c2"}])
    begin(taken, "c2")

    sweep()

    assert results(row) == ["interrupted"]
    assert Run.objects.get(pk=following.pk).status == RunStatus.RUNNING


# Runs past their end.


def expire(row: Run) -> None:
    Run.objects.filter(pk=row.pk).update(expires_at=ago(1))


def test_a_driver_writes_nothing_more_once_the_runs_time_is_over(row: Run):
    taken = make.claimed(row)
    expire(row)

    with pytest.raises(LeaseLost):
        make.answered(taken, "too late")

    assert not Event.objects.filter(kind="assistant_message").exists()


def test_the_lease_of_a_run_past_its_end_is_not_renewed(row: Run):
    make.claimed(row)
    expire(row)

    assert renew_leases(run_ids=[row.pk], owner="test", lease_seconds=60) == set()
    assert still_driven(run_ids=[row.pk], owner="test") == set()


def test_a_run_past_its_end_is_expired_though_somebody_drives_it(row: Run):
    under_way(row)
    expire(row)

    sweep()

    row.refresh_from_db()
    assert (row.status, results(row)) == (RunStatus.EXPIRED, [])


def test_what_a_call_did_before_the_end_is_still_recorded(row: Run):
    taken = under_way(row)
    expire(row)

    driving.result(taken.claim, [end_of()], [])
    sweep()

    assert results(row) == ["done"]


# Runs of people who left.


def leave() -> None:
    Membership.objects.filter(user__username="alice").update(removed_at=database_now())


def shut_out() -> None:
    User.objects.filter(username="alice").update(is_active=False)


def demote() -> None:
    Membership.objects.filter(user__username="alice").update(role="viewer")


@pytest.mark.parametrize("lose_authority", [leave, shut_out, demote])
def test_a_parked_run_is_stopped_when_its_starter_may_start_none_any_more(
    row: Run, lose_authority: Any
):
    gate = make.gate(row)
    lose_authority()

    sweep()

    row.refresh_from_db()
    gate.refresh_from_db()
    assert (row.status, row.reason) == (RunStatus.STOPPED, "authority_gone")
    assert gate.status == GateStatus.WITHDRAWN


def test_a_driven_run_is_stopped_too_and_its_call_may_end(row: Run):
    taken = under_way(row)
    leave()

    sweep()
    driving.result(taken.claim, [end_of()], [])

    row.refresh_from_db()
    assert (row.status, results(row)) == (RunStatus.STOPPED, ["done"])


def test_a_run_of_a_demoted_starter_is_claimed_by_nobody(row: Run):
    demote()

    assert take_run(run_id=row.pk, owner="w", lease_seconds=60) is None
    assert Run.objects.get(pk=row.pk).reason == "authority_gone"


def test_a_run_of_a_revoked_key_is_stopped():
    make.manifest()
    row = make.run(people.of_key(people.ownerless_key()))
    ApiKey.objects.update(revoked_at=database_now())

    sweep()

    assert Run.objects.get(pk=row.pk).reason == "authority_gone"


def test_a_run_whose_starter_is_still_here_goes_on(row: Run):
    make.gate(row)

    sweep()

    assert Run.objects.get(pk=row.pk).status == RunStatus.WAITING


# What nobody can come back for.


def test_keys_past_their_day_are_deleted_and_the_others_stay(row: Run):
    old, new = (make.run(thread=name, key=name) for name in ("t2", "t3"))
    IdempotencyKey.objects.filter(run=old).update(expires_at=ago(1))

    sweep()

    assert [key.run_id for key in IdempotencyKey.objects.all()] == [new.pk]


def hidden_thread_with_files(data_dir: Path) -> tuple[Thread, Path]:
    row = make.finished(make.run(thread=None))
    folder = workspace_root(data_dir, people.TEAM, WorkspaceScope.THREAD, row.thread.suffix)
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "note.txt").write_text("x")
    return row.thread, folder


def test_a_swept_thread_takes_its_files_along(settings: Any):
    make.manifest()
    thread, folder = hidden_thread_with_files(settings.DATA_DIR)
    Thread.objects.update(updated_at=ago(EPHEMERAL_SECONDS + 1))

    sweep()

    assert not Thread.objects.filter(pk=thread.pk).exists()
    assert not folder.exists()
    assert folder.parent.exists()


def test_files_of_a_thread_that_stays_are_left(settings: Any):
    make.manifest()
    _, folder = hidden_thread_with_files(settings.DATA_DIR)

    sweep()

    assert (folder / "deep" / "note.txt").exists()


@pytest.mark.parametrize("linked", ["a", "a/b"])
def test_removing_a_tree_follows_no_symlink(tmp_path: Path, linked: str):
    base, others = tmp_path / "data", tmp_path / "others"
    (others / "b").mkdir(parents=True)
    (others / "b" / "kept.txt").write_text("x")
    link = base / linked
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(others if linked == "a" else others / "b")

    with pytest.raises(OSError):
        remove_tree(base / "a" / "b", base=base)

    assert (others / "b" / "kept.txt").exists()


def test_removing_what_is_not_there_does_nothing(tmp_path: Path):
    remove_tree(tmp_path / "a" / "b", base=tmp_path)

    assert not (tmp_path / "a").exists()


# Faults.


def test_one_row_that_cannot_be_settled_holds_up_no_other():
    settled = []

    def settle(item: int) -> None:
        settled.append(10 // item)

    sweeping._each("numbers", lambda: [0, 5, 2], settle)

    assert settled == [2, 5]
