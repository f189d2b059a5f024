"""A running Felix of real commands, in either of its two shapes, on ports and data of its own.

The environment says which: with FELIX_REDIS_URL it is the production one (two `felix web`, two
`felix worker`, one `felix beat`, a database made for the session, a Redis server of its own), else
`felix up` on SQLite. Both are killed, armed and started again by the same few methods.
"""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import redis

from tests.durability.client import Client, Dropped
from tests.durability.processes import FELIX, ROOT, Command, environment, felix, free_port, wait_for
from tests.fakes.provider import FakeProvider

LEASE_SECONDS = 2.0
MODELS = """active_model: fake
providers:
  fake: {{base_url: "{fake}", api_key_env: FAKE_MODEL_KEY}}
  gone: {{base_url: "http://127.0.0.1:{gone}/v1", api_key_env: FAKE_MODEL_KEY}}
models:
  fake: {{provider: fake, model_id: fake}}
  gone: {{provider: gone, model_id: fake}}
retry: {{max_attempts: 2, base_delay_seconds: 0.1, max_delay_seconds: 1}}
"""
IS_PRODUCTION = bool(os.environ.get("FELIX_REDIS_URL"))


class Instance:
    """What both shapes share: a fake model, a data directory, a key, a file that arms faults."""

    shape = ""

    def __init__(self, home: Path, fake: FakeProvider, **settings: str) -> None:
        self.home = home
        self.data_dir = home / "data"
        self.fake = fake
        self.killed_at = self.restored_at = 0.0
        self._fault = home / "fault"
        self._log = home / "output"
        self._key = ""
        self._models = home / "models.yaml"
        self._models.write_text(MODELS.format(fake=fake.base_url, gone=free_port()))
        usual = {
            "DATA_DIR": str(self.data_dir),
            "LEASE_SECONDS": f"{LEASE_SECONDS:g}",
            "MODELS_FILE": str(self._models),
            "FAULT": f"@{self._fault}",
        }
        self.env = {**environment(**{**usual, **settings}), "FAKE_MODEL_KEY": "test-key"}

    @property
    def output(self) -> str:
        """Everything its commands have said."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    @property
    def key(self) -> str:
        """A key of rita, admin of the first tenant; made while the instance runs."""
        if not self._key:
            felix("user", "create", "rita", "--tenant", "default", "--role", "admin", env=self.env)
            name = f"test-{secrets.token_hex(3)}"
            self._key = felix(
                *("key", "create", "--tenant", "default", "--owner", "rita"),
                *("--name", name, "--scopes", "*"),
                env=self.env,
            )
        return self._key

    def arm(self, point: str) -> None:
        """The next process that reaches the fault point is gone there."""
        draft = self._fault.with_suffix(".draft")
        draft.write_text(point)
        draft.rename(self._fault)

    def disarm(self) -> None:
        """No fault point does anything any more."""
        self._fault.unlink(missing_ok=True)

    def command(self, *arguments: str, **settings: str) -> Command:
        """Return a new `felix` process of this instance."""
        env = {**self.env, **{f"FELIX_{name}": value for name, value in settings.items()}}
        return Command(str(FELIX), *arguments, env=env, log=self._log)

    def wait_until_ready(self, process: Command, port: int) -> None:
        """The web process answers, and says that it is ready."""

        def is_ready() -> bool:
            assert process.is_alive, f"it ended with {process.wait()}:\n{self.output[-3000:]}"
            try:
                return Client(port).ask("GET", "/ready").status == 200
            except Dropped:
                return False

        wait_for(is_ready, f"felix {process.arguments[1]} is ready", timeout=90)


class Embedded(Instance):
    """`felix up` on SQLite: one process."""

    shape = "SQLite, `felix up`"

    def __init__(self, home: Path, fake: FakeProvider, **settings: str) -> None:
        super().__init__(home, fake, **settings)
        self.port = free_port()
        self.up: Command | None = None

    def start(self) -> None:
        """It serves."""
        self.up = self.command("up", PORT=str(self.port))
        self.wait_until_ready(self.up, self.port)
        self.restored_at = time.time()

    @property
    def client(self) -> Client:
        return Client(self.port, self.key)

    other_client = client

    @property
    def running(self) -> Command:
        assert self.up is not None
        return self.up

    def wait_for_kill(self) -> None:
        """The armed process is gone."""
        wait_for(lambda: not self.running.is_alive, "the fault point was reached")
        self.killed_at = time.time()
        self.disarm()

    def kill(self) -> None:
        """Everything is gone, from one moment to the next."""
        self.killed_at = time.time()
        self.running.kill()

    kill_one = kill

    def restart(self) -> None:
        """What is gone is there again."""
        if not self.running.is_alive:
            self.start()

    def close(self) -> None:
        """No process of it is left."""
        if self.up is not None:
            self.up.kill()


class Production(Instance):
    """Two web processes, two workers and the scheduler, on PostgreSQL and Redis."""

    shape = "PostgreSQL and Redis, two `felix web`, two `felix worker`, one `felix beat`"

    def __init__(self, home: Path, fake: FakeProvider, **settings: str) -> None:
        super().__init__(home, fake, **settings)
        self._server = os.environ["FELIX_DATABASE_URL"]
        self._database = f"felix_{secrets.token_hex(6)}"
        self.redis_port = free_port()
        self.env["FELIX_REDIS_URL"] = f"redis://127.0.0.1:{self.redis_port}/0"
        self.env["FELIX_DATABASE_URL"] = (
            urlsplit(self._server)._replace(path=f"/{self._database}").geturl()
        )
        self.ports = (free_port(), free_port())
        self.redis: Command | None = None
        self.webs: list[Command] = []
        self.workers: list[Command] = []
        self.beat: Command | None = None

    def start(self) -> None:
        """It serves, on a new database."""
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{self._database}"')
        self.start_redis()
        felix("tenant", "create", "default", env=self.env)
        self.webs = [self._web(port) for port in self.ports]
        self.workers = [self.command("worker") for _ in range(2)]
        self.beat = self.command("beat")
        self._wait_for_webs()

    def _web(self, port: int) -> Command:
        return self.command("web", PORT=str(port))

    def _wait_for_webs(self) -> None:
        for process, port in zip(self.webs, self.ports, strict=True):
            self.wait_until_ready(process, port)
        self.restored_at = time.time()

    def start_redis(self) -> None:
        """An empty Redis listens on the instance's port."""
        self.redis = Command(
            *("redis-server", "--bind", "127.0.0.1", "--port", str(self.redis_port)),
            *("--save", "", "--appendonly", "no", "--loglevel", "warning"),
            env={**os.environ},
            log=self.home / "redis",
        )
        wait_for(self._redis_answers, "Redis answers")

    def _redis_answers(self) -> bool:
        with redis.Redis(port=self.redis_port) as server:
            try:
                return bool(server.ping())
            except redis.ConnectionError:
                return False

    @property
    def client(self) -> Client:
        return Client(self.ports[0], self.key)

    @property
    def other_client(self) -> Client:
        """The same key at the second web process."""
        return Client(self.ports[1], self.key)

    @property
    def _processes(self) -> list[Command]:
        return [*self.webs, *self.workers, *([self.beat] if self.beat else [])]

    def wait_for_kill(self) -> None:
        """The armed process is gone; the others have not reached the point."""
        wait_for(
            lambda: any(not process.is_alive for process in self._processes),
            "the fault point was reached",
        )
        self.disarm()
        self.killed_at = self.restored_at = time.time()

    def kill(self) -> None:
        """Both workers and both web processes are gone, from one moment to the next."""
        self.killed_at = time.time()
        for process in [*self.workers, *self.webs]:
            process.kill()

    def kill_one(self) -> None:
        """One worker and one web process are gone; their twins go on."""
        self.killed_at = self.restored_at = time.time()
        self.workers[0].kill()
        self.webs[0].kill()
        self.workers.reverse()

    def restart(self) -> None:
        """What is gone is there again."""
        lost_all = not any(worker.is_alive for worker in self.workers)
        back_at = self.restored_at
        self.workers = [w if w.is_alive else self.command("worker") for w in self.workers]
        self.webs = [
            web if web.is_alive else self._web(port)
            for web, port in zip(self.webs, self.ports, strict=True)
        ]
        self._wait_for_webs()
        if not lost_all:
            self.restored_at = back_at

    def close(self) -> None:
        """No process of it is left, and no database."""
        for process in self._processes:
            process.kill()
        if self.redis is not None:
            self.redis.kill()
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{self._database}" WITH (FORCE)')


Felix = Embedded | Production
SHAPE: type[Embedded] | type[Production] = Production if IS_PRODUCTION else Embedded
__all__ = ["IS_PRODUCTION", "LEASE_SECONDS", "ROOT", "SHAPE", "Embedded", "Felix", "Production"]
