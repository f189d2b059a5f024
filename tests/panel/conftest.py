"""Browsers without a browser: Django's client, signed in as one of the people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from tests import people

PASSWORD = "correct horse battery"


def choose_password(name: str) -> None:
    """The person has a password of their own."""
    user = people.member(name).user
    user.set_password(PASSWORD)
    user.has_one_time_password = False
    user.save()


@pytest.fixture(autouse=True)
def _fresh_process(settings: Any, tmp_path: Path) -> None:
    """No failed sign-in is remembered, and there is a directory of collected files, as deployed."""
    cache.clear()
    settings.STATIC_ROOT = tmp_path


@pytest.fixture
def browser(db: None) -> Callable[[str], Client]:
    """Return a browser that is signed in as the person."""

    def signed_in(name: str) -> Client:
        choose_password(name)
        client = Client(raise_request_exception=True)
        client.force_login(people.member(name).user)
        return client

    return signed_in
