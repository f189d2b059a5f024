"""Pictures of the panel with a team at work in it: `make shots` writes docs/shots.

A real `felix up`, the fake provider as its model, and Chromium without scripts.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.durability.harness import Embedded
from tests.durability.processes import felix, wait_for
from tests.durability.talk import Thread, decide
from tests.fakes.provider import FakeProvider, ScriptedToolCall, Step, call

SHOTS = Path(__file__).resolve().parents[2] / "docs" / "shots"
SIZES = {"1440": (1440, 900), "1024": (1024, 768), "360": (360, 740)}
PASSWORD = "a picture of a panel"
AGENT = """apiVersion: felix/v1
kind: Agent
metadata: {name: caretaker, description: Looks after the team's configuration.}
spec:
  tools: [list_dir, read_file, search_files, write_file, edit_file]
  approvals:
    - {id: staging-config, description: Every change of the staging configuration is read first.,
       tools: [write_file, edit_file], when_args: [path], ttl_seconds: 1800}
  limits: {max_tool_calls: 20}
  recursion_limit: 20
  execution: {mode: durable}
  workspace: {scope: tenant}
"""
STAGING = """[signing]
algorithm = "ed25519"
active_key = "stage-07"
previous_key = "stage-06"
reload_seconds = 900
audience = ["gateway", "billing", "reports"]
"""
ROTATED = """[signing]
algorithm = "ed25519"
active_key = "stage-08"
previous_key = "stage-07"
reload_seconds = 60  # until all have it\u200b
audience = ["gateway", "billing", "reports"]
"""
CONFIG = "config/staging.toml"


def using(tool: str, **args: str) -> ScriptedToolCall:
    """Return a call as the model makes it."""
    return call(tool, json.dumps(args))


STORIES: dict[str, tuple[str, list[Step]]] = {
    "seed": (
        "Set up the staging configuration.",
        [
            Step(calls=(using("write_file", path=CONFIG, content=STAGING),)),
            Step(text="The staging configuration is in place."),
        ],
    ),
    "report": (
        "Summarise incident 4411.",
        [
            Step(calls=(using("list_dir", path="."),)),
            Step(text="The gateway lost its lease for 40 seconds. Nothing was lost."),
        ],
    ),
    "refund": (
        "Refund charge 8812 and write down why.",
        [Step(calls=(using("write_file", path="refunds/8812.md", content="Charged twice.\n"),))],
    ),
    "rotate": (
        "Rotate the staging key.\nTell me what used the old one last.",
        [
            Step(
                text="I will find where the key is set before I change anything.",
                calls=(
                    using("read_file", path=CONFIG),
                    using("search_files", query="stage-07"),
                    using("read_file", path="config/vault.toml"),
                ),
            ),
            Step(
                text="stage-08 is minted. Next: point staging at it, keep stage-07 for a day.",
                calls=(using("write_file", path=CONFIG, content=ROTATED),),
            ),
        ],
    ),
}


def tell(instance: Embedded, name: str) -> Thread:
    """Return the thread of a story, begun."""
    message, steps = STORIES[name]
    for step in steps:
        instance.fake.script(replace(step, match=message))
    thread = Thread(instance, "caretaker", name)
    thread.send(message)
    return thread


def prepare(home: Path, fake: FakeProvider) -> Embedded:
    """Return a running instance with threads in every state worth a picture."""
    instance = Embedded(home, fake)
    instance.start()
    assert instance.client.ask("PUT", "/api/manifests/caretaker", AGENT).status == 201
    seed = tell(instance, "seed")
    decide(instance.client, seed.waiting_gate())
    seed.finish()
    tell(instance, "report").finish()
    for name in ("refund", "rotate"):
        tell(instance, name).waiting_gate()
    return instance


@contextmanager
def signed_in(browser: Browser, home: str, size: tuple[int, int], theme: str) -> Iterator[Page]:
    """Open a window of the reviewer `bo`."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if theme == "dark" else "light",
        java_script_enabled=False,
    )
    page = context.new_page()
    page.goto(f"{home}/sign-in/")
    page.fill("input[name=username]", "bo")
    page.fill("input[name=password]", PASSWORD)
    page.click("main form button")
    yield page
    context.close()


def choose_password(browser: Browser, home: str, printed: str) -> None:
    """The printed password of `bo` is replaced."""
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{home}/sign-in/")
    page.screenshot(path=SHOTS / "sign-in-light.png")
    page.fill("input[name=username]", "bo")
    page.fill("input[name=password]", printed)
    page.click("main form button")
    page.fill("input[name=password]", PASSWORD)
    page.click("main form button")
    wait_for(lambda: "/threads/" in page.url, "bo is in")


def take(browser: Browser, home: str, gate_id: str) -> None:
    """Every page, both themes, three sizes, as `<page>-<size>-<theme>.png`; 1440 is left out."""
    pages = {
        "run": "/threads/rotate/",
        "done": "/threads/report/",
        "threads": "/threads/",
        "inbox": "/approvals/",
        "gate": f"/approvals/{gate_id}/",
        "new": "/threads/new/",
    }
    for theme in ("light", "dark"):
        for label, size in SIZES.items():
            with signed_in(browser, home, size, theme) as page:
                for name, path in pages.items():
                    page.goto(home + path)
                    part = "" if label == "1440" else f"-{label}"
                    page.screenshot(path=SHOTS / f"{name}{part}-{theme}.png")


def main() -> None:
    """docs/shots holds today's pictures."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, FakeProvider() as fake:
        instance = prepare(Path(folder), fake)
        member = ("user", "create", "bo", "--tenant", "default", "--role", "reviewer")
        printed = felix(*member, env=instance.env)
        home = f"http://127.0.0.1:{instance.client.port}"
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
                choose_password(browser, home, printed.strip())
                gate = Thread(instance, "caretaker", "refund").waiting_gate()
                take(browser, home, gate["gate_id"])
        finally:
            instance.close()


if __name__ == "__main__":
    main()
