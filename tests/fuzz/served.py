"""The product as `make run` serves it, on the test's database: a process of its own, and who may ask it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from django.conf import settings
from django.test import Client

from tests.gateway.processes import end
from tests.gateway.test_sudden_death import database_url
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
START_S = 180.0
CSRF = "c" * 32


@dataclass(frozen=True)
class Served:
    """A running server, and the file that it logs to."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def socket_url(self) -> str:
        return self.url.replace("http", "ws", 1)

    def said(self) -> str:
        """Read the end of what the server logged."""
        return self.log.read_text(errors="replace")[-4000:]


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """Serve for as long as the block lasts; tasks are left to workers, of which there are none."""
    port, log = free_port(), folder / "serve.log"
    url = f"http://127.0.0.1:{port}"
    kept = {name: text for name, text in os.environ.items() if name != "DATABASE_OWNER_URL"}
    environment = {
        **kept,
        "DATABASE_URL": database_url(),
        "OPENCLAW_ADMIN_TESTING": "1",
        "OPENCLAW_ADMIN_VAR": str(settings.VAR_DIR),
        "OPENCLAW_ADMIN_KEYS": str(settings.KEYS_DIR),
        "LOG_LEVEL": "WARNING",
    }
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--no-prepare", "--no-background"]
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
    try:
        running = Served(url, process, log)
        _wait_until_it_answers(running)
        yield running
    finally:
        end(process)


def _wait_until_it_answers(running: Served) -> None:
    until = time.monotonic() + START_S
    while not _answers(running.url):
        assert running.process.poll() is None and time.monotonic() < until, running.said()
        time.sleep(0.05)


def _answers(url: str) -> bool:
    try:
        return requests.get(f"{url}/healthz", timeout=2).status_code == 200
    except requests.RequestException:
        return False


def person_session(person: Any) -> requests.Session:
    """Sign somebody in, as their browser is."""
    browser = Client()
    browser.force_login(person)
    session = requests.Session()
    session.trust_env = False
    session.cookies.set("sessionid", browser.cookies["sessionid"].value)
    session.cookies.set("csrftoken", CSRF)
    session.headers["X-CSRFToken"] = CSRF
    return session


def program_session(secret: str) -> requests.Session:
    """Make a client that sends a token."""
    session = requests.Session()
    session.trust_env = False
    session.headers["Authorization"] = f"Bearer {secret}"
    return session
