"""The one write of the panel itself: a member's own password."""

from __future__ import annotations

from felix_web.tenancy.models import User


def set_password(*, user: User, password: str) -> None:
    """The person signs in with this password from now on, and is not asked for another one."""
    user.set_password(password)
    user.has_one_time_password = False
    user.save(update_fields=["password", "has_one_time_password"])
