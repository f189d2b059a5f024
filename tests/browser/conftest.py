"""Chromium on the panel: a real server, real pages, nobody's scripts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.cache import cache
from django.test import Client
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from approvals.models import Gate
from tests import make, people

# Playwright's own loop runs in the test's thread, where Django then refuses to touch the database.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

NAMES = ("chromium", "chromium-browser", "google-chrome")
LONG = {"path": "long.txt", "content": "".join(f"line {number}\n" for number in range(100))}
ONE_LINE = {
    "path": "one.txt",
    "content": "".join(f"step {number:05} " for number in range(1_700)),
}
HIDING = {
    "path": "odd.txt",
    "content": "pay = 10 \u202e# 01 = yap\u200b <script>window.hit=1</script>\x1b[2J\n",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test here drives Chromium."""
    for item in items:
        if "tests/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session", autouse=True)
def _collected(tmp_path_factory: pytest.TempPathFactory) -> None:
    """There is a directory of collected files, as deployed, before the server starts."""
    django_settings.STATIC_ROOT = tmp_path_factory.mktemp("static")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser of this machine."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    playwright: Playwright
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        yield browser
        browser.close()


@dataclass
class Visit:
    """A person's browser window, and everything that it complained about."""

    page: Page
    home: str
    complaints: list[str] = field(default_factory=list)
    posts: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        """Open a page of the server."""
        self.page.goto(self.home + path)
        return self.page


@pytest.fixture
def visit(chromium: Browser, live_server: Any) -> Iterator[Any]:
    """Open a window: `visit("bob", width=360, theme="dark")`; without JavaScript unless asked."""
    cache.clear()
    contexts = []

    def opened(
        name: str = "",
        *,
        width: int = 1280,
        height: int = 800,
        theme: Any = "light",
        js: bool = False,
    ) -> Visit:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            java_script_enabled=js,
        )
        contexts.append(context)
        if name:
            client = Client()
            client.force_login(people.member(name).user)
            cookie = client.cookies["sessionid"].value
            context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
        window = Visit(context.new_page(), live_server.url)
        _listen(window)
        return window

    yield opened
    for context in contexts:
        context.close()


def _listen(window: Visit) -> None:
    page = window.page
    page.on("console", lambda message: window.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: window.complaints.append(str(error)))
    page.on("request", lambda request: _note(window, request))


def _note(window: Visit, request: Any) -> None:
    if not request.url.startswith((window.home, "data:")):
        window.complaints.append(f"asked another host: {request.url}")
    if request.method == "POST":
        window.posts.append(request.post_data or "")


@dataclass(frozen=True)
class Story:
    """Threads in every state, and the gates of three of them."""

    gate: Gate
    long_gate: Gate
    odd_gate: Gate

    @property
    def pages(self) -> list[str]:
        """Every page there is to see, signed in."""
        gates = [f"/approvals/{gate.pk}/" for gate in (self.gate, self.long_gate, self.odd_gate)]
        lists = ["/threads/", "/threads/?state=failed", "/threads/?q=none", "/threads/new/"]
        lists += ["/approvals/", "/approvals/?queue=team", "/approvals/?queue=history"]
        return [*lists, *gates, "/threads/t1/", "/threads/done/", "/threads/bad/", "/usage/"]


@pytest.fixture
def story(transactional_db: None) -> Story:
    """Things to look at."""
    make.manifest()
    first = make.gate(make.run(people.alice(), thread="t1", text="write the note"))
    long_gate = make.gate(make.run(people.alice(), thread="t2", text="write a lot"), args=LONG)
    odd_gate = make.gate(make.run(people.alice(), thread="t3", text="write oddly"), args=HIDING)
    make.finished(make.run(people.alice(), thread="done", text="sum it up"), "All\n\nsummed up.")
    make.failed(make.run(people.alice(), thread="bad", text="reach the provider"))
    return Story(first, long_gate, odd_gate)


Opener = Callable[..., Visit]
