"""Paths inside a workspace: what the model may name, and where a scope's directory is."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from pathlib import Path

from agents.core.tools.base import ToolFailed

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 4096
RESERVED_TENANT = "deployment"


class WorkspaceScope(StrEnum):
    """Who shares a workspace."""

    THREAD = "thread"
    TENANT = "tenant"
    DEPLOYMENT = "deployment"


def split_path(path: str) -> tuple[str, ...]:
    """Return the names on the way from the root to the path; () is the root itself.

    `..` is taken back by text alone. That is the truth here, because no symlink is ever followed.

    Raises:
        ToolFailed: `invalid_arguments`; it is empty, absolute, leaves the root, or is no path.
    """
    _require_text(path)
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            if not names:
                raise _refused(path, "leaves the workspace")
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    if any(len(name.encode()) > MAX_NAME_BYTES for name in names):
        raise ToolFailed("invalid_arguments", f"A name in the path is over {MAX_NAME_BYTES} bytes.")
    return tuple(names)


def _require_text(path: str) -> None:
    if not path:
        raise ToolFailed("invalid_arguments", 'The path is empty; use "." for the workspace root.')
    if "\0" in path:
        raise ToolFailed("invalid_arguments", "The path holds a NUL character.")
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise ToolFailed("invalid_arguments", "The path is not valid Unicode.") from None
    if size > MAX_PATH_BYTES:
        raise ToolFailed("invalid_arguments", f"The path is over {MAX_PATH_BYTES} bytes.")
    if path.startswith("/"):
        raise _refused(path, "is absolute; name it relative to the workspace root")


def _refused(path: str, why: str) -> ToolFailed:
    return ToolFailed("invalid_arguments", f'The path "{path}" {why}.')


def normal_path(path: str) -> str:
    """Return the one spelling of a path (`a/./b//c` is `a/b/c`, the root is `.`).

    Raises:
        ToolFailed: as `split_path`.
    """
    return "/".join(split_path(path)) or "."


def target_of(path: str) -> str:
    """Return the one spelling of a path, or the path as given where it is refused elsewhere."""
    try:
        return normal_path(path)
    except ToolFailed:
        return path


def workspace_root(
    data_dir: Path, tenant_slug: str, scope: WorkspaceScope, thread_suffix: str
) -> Path:
    """Return the directory of a scope; it need not exist yet.

    Args:
        thread_suffix: The thread's id within its tenant; empty where a run has no thread.

    Raises:
        ToolFailed: `permission_denied`; the scope is a thread's and there is none (a shared
            directory is never given instead), or the tenant's name can be no directory of its own.
    """
    root = data_dir / "workspaces"
    if scope == WorkspaceScope.DEPLOYMENT:
        return root / RESERVED_TENANT
    if tenant_slug in ("", ".", "..", RESERVED_TENANT) or {"/", "\0"} & set(tenant_slug):
        raise ToolFailed("permission_denied", "This tenant cannot have a workspace.")
    if scope == WorkspaceScope.TENANT:
        return root / tenant_slug / "shared"
    if not thread_suffix:
        raise ToolFailed("permission_denied", "A thread's workspace needs a thread.")
    key = hashlib.sha256(f"{tenant_slug}\0{thread_suffix}".encode()).hexdigest()
    return root / tenant_slug / "threads" / key[:40]
