from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from agents.core.tools.base import ToolFailed
from agents.core.tools.paths import WorkspaceScope, normal_path, target_of, workspace_root

DATA = Path("/data")


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("a/./b//c", "a/b/c"),
        (".", "."),
        ("a/../b", "b"),
        ("..cache/x", "..cache/x"),
        (".hidden", ".hidden"),
        ("...", "..."),
        ("a/", "a"),
    ],
)
def test_a_path_has_one_spelling(path: str, normal: str) -> None:
    assert normal_path(path) == normal
    assert target_of(path) == normal


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "..", "../x", "a/../../x", "a\0b", "\udc80", "a" * 256, "a/" * 2100],
)
def test_a_path_that_leaves_or_is_none_is_refused(path: str) -> None:
    with pytest.raises(ToolFailed) as refused:
        normal_path(path)

    assert refused.value.code == "invalid_arguments"
    assert target_of(path) == path


def test_each_scope_has_its_own_directory() -> None:
    key = hashlib.sha256(b"acme\0t1").hexdigest()[:40]

    roots = [workspace_root(DATA, "acme", scope, "t1") for scope in WorkspaceScope]

    assert roots == [
        DATA / "workspaces/acme/threads" / key,
        DATA / "workspaces/acme/shared",
        DATA / "workspaces/deployment",
    ]


def test_a_thread_scope_without_a_thread_is_refused_never_shared() -> None:
    with pytest.raises(ToolFailed) as refused:
        workspace_root(DATA, "acme", WorkspaceScope.THREAD, "")

    assert refused.value.code == "permission_denied"


@pytest.mark.parametrize("tenant", ["", ".", "..", "a/b", "a\0", "deployment"])
def test_a_tenant_that_cannot_have_a_directory_of_its_own_is_refused(tenant: str) -> None:
    with pytest.raises(ToolFailed):
        workspace_root(DATA, tenant, WorkspaceScope.TENANT, "")


def test_a_tenant_and_thread_cannot_be_cut_differently_into_the_same_directory() -> None:
    roots = {
        workspace_root(DATA, tenant, WorkspaceScope.THREAD, thread).name
        for tenant, thread in [("ab", "c"), ("a", "bc"), ("a", "b")]
    }

    assert len(roots) == 3
