"""Removing a whole directory by descriptors, so that no symlink leads out of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from agents.core.tools.descriptors import directory


def remove_tree(root: Path, *, base: Path) -> None:
    """The directory and all in it are gone; nothing is done where it does not exist.

    Args:
        base: An ancestor of `root`, whose way is trusted. Below it no symlink is followed.

    Raises:
        OSError: something of it could not be removed, or the way to it goes through a symlink.
    """
    *way, name = root.relative_to(base).parts
    held = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with directory(held, tuple(way)) as parent:
            shutil.rmtree(name, dir_fd=parent)
    except FileNotFoundError:
        pass
    finally:
        os.close(held)
