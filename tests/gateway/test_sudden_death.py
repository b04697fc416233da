"""kill -9 of a real server process while a call runs: its outcome is unknown, not lost, not failed, not repeated."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from apps.audit.services import sweep_orphans
from tests import database
from tests.gateway.conftest import call, publish_first
from tests.gateway.test_calls import kinds, sleeping
from tests.gateway.test_decisions import Token, eventually
from tests.ports import free_port

DOCUMENT = '{"agents": {"entries": {"bot": {"tools": {"exec": {"security": "full", "ask": "off"}}}}}}'


def database_url() -> str:
    role = database.APPLICATION
    sign_in = f"{quote(str(role['USER']))}:{quote(str(role['PASSWORD']))}"
    name = quote(str(connection.settings_dict["NAME"]))
    host = quote(str(role["HOST"]), safe="")
    port = f":{role['PORT']}" if role["PORT"] else ""
    return f"postgresql://{sign_in}@{port}/{name}?host={host}" if host.startswith("%2F") else (
        f"postgresql://{sign_in}@{host}{port}/{name}"
    )  # fmt: skip


@contextmanager
def server_process() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    port = free_port()
    environment = {**os.environ, "DATABASE_URL": database_url(), "OPENCLAW_ADMIN_TESTING": "1"}
    environment |= {"OPENCLAW_ADMIN_VAR": str(settings.VAR_DIR), "OPENCLAW_ADMIN_KEYS": str(settings.KEYS_DIR)}
    environment.pop("DATABASE_OWNER_URL", None)
    command = [sys.executable, "-m", "uvicorn", "openclaw_admin.asgi:application", "--port", str(port)]
    process = subprocess.Popen([*command, "--log-level", "warning"], env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + 120
        while not _answers(url):
            assert process.poll() is None and time.monotonic() < until, "the server process did not start"
            time.sleep(0.05)
        yield process, url
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=1).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture
def secret(transactional_db: None, environment: Any, token: Token) -> str:
    publish_first(environment, DOCUMENT)
    return token("calls_make")[1]


@pytest.mark.slow
def test_a_call_whose_server_was_killed_ends_as_unknown(secret: str, wait_for: Callable[..., None]) -> None:
    headers = {"Authorization": f"Bearer {secret}"}
    with server_process() as (process, url), httpx.Client(base_url=url, headers=headers) as client:
        shown_id = call(client, "exec", {"command": "sleep 57", "timeout": 60}, wait_ms=0).json()["id"]
        wait_for(lambda: kinds(shown_id) == [("call_intent", "started")] and sleeping("57"))

        process.send_signal(signal.SIGKILL)
        process.wait()

    wait_for(lambda: not sleeping("57"))
    assert kinds(shown_id) == [("call_intent", "started")]

    with server_process() as (_, url), httpx.Client(base_url=url, headers=headers) as client:
        before = client.get(f"/api/v1/calls/{shown_id}").json()["status"]
        swept = sweep_orphans(timezone.now() + timedelta(minutes=1))
        after = client.get(f"/api/v1/calls/{shown_id}").json()["status"]

    assert (before, swept, after) == ("running", 1, "unknown")
    assert kinds(shown_id) == [("call_intent", "started"), ("call_outcome", "unknown")]


@pytest.fixture
def wait_for() -> Callable[..., None]:
    def wait(claim: Callable[[], Any]) -> None:
        assert eventually(lambda: bool(claim()))

    return wait
