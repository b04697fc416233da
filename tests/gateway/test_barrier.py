"""Whoever is told that something is published, withdrawn or stopped meets no process that does not hold to it."""

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from apps.policies.services import document_import, publish, publish_ask, publish_rule_save
from apps.registry.selectors import tool_find
from tests.gateway.conftest import call, publish_first
from tests.gateway.processes import end
from tests.gateway.test_decisions import Token
from tests.gateway.test_sudden_death import database_url
from tests.ports import free_port

OPEN = '{"agents": {"entries": {"bot": {}}}}'
SHUT = '{"agents": {"entries": {"bot": {"tools": {"deny": ["read"]}}}}}'
BOUND_S = 2.0
START_S = 180.0


@dataclass(frozen=True)
class Served:
    """Server processes of one installation, with an admin's program and an agent at each."""

    processes: list[subprocess.Popen[bytes]]
    admins: list[httpx.Client]
    agents: list[httpx.Client]

    def codes(self) -> set[str]:
        """Call `read` in every process at once, and give what refused it; empty for nothing."""
        answers = [call(agent, "read", {"path": "a"}).json() for agent in self.agents]
        return {answer.get("code") or (answer.get("error") or {}).get("code") or "" for answer in answers}


@contextmanager
def served(count: int, admin: str, agent: str) -> Iterator[Served]:
    kept = {name: text for name, text in os.environ.items() if name != "DATABASE_OWNER_URL"}
    environment = {**kept, "DATABASE_URL": database_url(), "OPENCLAW_ADMIN_TESTING": "1", "LOG_LEVEL": "WARNING"}
    environment |= {"OPENCLAW_ADMIN_VAR": str(settings.VAR_DIR), "OPENCLAW_ADMIN_KEYS": str(settings.KEYS_DIR)}
    ports = [free_port() for _ in range(count)]
    command = [sys.executable, "-m", "uvicorn", "openclaw_admin.asgi:application", "--log-level", "warning"]
    processes = [
        subprocess.Popen([*command, "--port", str(port)], env=environment, start_new_session=True) for port in ports
    ]
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    try:
        until = time.monotonic() + START_S
        for process, url in zip(processes, urls, strict=True):
            while not _answers(url):
                assert process.poll() is None and time.monotonic() < until, "a server process did not start"
                time.sleep(0.05)
        yield Served(processes, *([_client(url, secret) for url in urls] for secret in (admin, agent)))
    finally:
        for process in processes:
            end(process)


def _client(url: str, secret: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {secret}"}, timeout=60)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture
def secrets(transactional_db: None, environment: Any, token: Token) -> tuple[str, str]:
    publish_first(environment, SHUT)
    document_import(environment, OPEN, by=None)
    live = publish(environment, by=None, message="open", expected_live=_digest(environment))
    assert live.number == 2
    rights = ("policy_read", "policy_write", "publish", "calls_stop")
    return token(*rights, name="admin", rate_per_minute=1_000_000)[1], token(
        "calls_make", name="agent", rate_per_minute=1_000_000
    )[1]


def _digest(environment: Any) -> str:
    from apps.policies.selectors import live_publication

    live = live_publication(environment)
    return "" if live is None else live.snapshot_id


def done(answer: httpx.Response, count: int) -> dict[str, Any]:
    assert answer.status_code < 300, answer.text
    body: dict[str, Any] = answer.json()
    assert body["heard_by"] == {"heard": count, "of": count, "silent": []}
    assert answer.headers["x-heard-by"] == f"{count}/{count}"
    return body


def publish_and_call(here: Served, rounds: int) -> int:
    """Go back and forth between two publications, and count calls that met the one before."""
    count, stale = len(here.admins), 0
    opened, shut = here.admins[0].get("/api/v1/publications").json()
    live = opened
    for place in range(rounds):
        target = shut if live["digest"] == opened["digest"] else opened
        wanted = {"publication": target["id"], "message": "back", "expected_live": live["digest"]}
        live = done(here.admins[place % count].post("/api/v1/publications/rollback", json=wanted), count)
        codes = here.codes()
        stale += codes != {"tool_not_found"} if live["digest"] == shut["digest"] else "tool_not_found" in codes
    if live["digest"] == shut["digest"]:
        wanted = {"publication": opened["id"], "message": "back", "expected_live": live["digest"]}
        done(here.admins[0].post("/api/v1/publications/rollback", json=wanted), count)
    return stale


def withdraw_and_call(here: Served, rounds: int, tool: Any) -> int:
    """Disable a tool and put it back into use, and count calls that met it as it was before."""
    count, stale = len(here.admins), 0
    for place in range(rounds):
        for state in ("disabled", "active"):
            path = f"/api/v1/registry/tools/{tool.shown_id}/state"
            done(here.admins[place % count].post(path, json={"state": state, "reason": "now"}), count)
            codes = here.codes()
            stale += codes != {"tool_disabled"} if state == "disabled" else "tool_disabled" in codes
    return stale


def stop_and_call(here: Served, rounds: int) -> int:
    """Stop an agent and lift the stop, and count calls that met what was before."""
    count, stale = len(here.admins), 0
    for place in range(rounds):
        admin = here.admins[place % count]
        wanted = {"scope": "agent", "name": "bot", "reason": "now", "unknown": True}
        halt = done(admin.post("/api/v1/halts", json=wanted), count)
        stale += here.codes() != {"stopped"}
        done(admin.post(f"/api/v1/halts/{halt['id']}/lift"), count)
        stale += "stopped" in here.codes()
    return stale


def series(count: int, rounds: int, secrets: tuple[str, str], environment: Any, more: Callable[[Served], None]) -> None:
    tool = tool_find(environment, "read")
    with served(count, *secrets) as here:
        assert publish_and_call(here, rounds) == 0
        assert withdraw_and_call(here, max(1, rounds // 2), tool) == 0
        assert stop_and_call(here, max(1, rounds // 2)) == 0
        more(here)


def nothing(_: Served) -> None:
    pass


def outlives_a_dead_process(here: Served) -> None:
    """Lose a process: changes are answered within the bound and name it, until its lease has ended."""
    here.processes[-1].send_signal(signal.SIGKILL)
    here.processes[-1].wait()
    wanted = {"scope": "agent", "name": "bot", "reason": "one is dead", "unknown": True}

    answer = here.admins[0].post("/api/v1/halts", json=wanted)

    assert answer.status_code == 201
    heard_by = answer.json()["heard_by"]
    assert (heard_by["heard"], heard_by["of"]) == (2, 3)
    assert [each["pid"] for each in heard_by["silent"]] == [here.processes[-1].pid]
    path = f"/api/v1/halts/{answer.json()['id']}"
    here.admins[1].post(f"{path}/ask")

    def is_forgotten() -> bool:
        lifted = here.admins[1].post(
            "/api/v1/halts", json={"scope": "tool", "name": "write", "reason": "now", "unknown": True}
        )
        here.admins[1].post(f"/api/v1/halts/{lifted.json()['id']}/lift")
        return bool(lifted.json()["heard_by"] == {"heard": 2, "of": 2, "silent": []})

    end_at = time.monotonic() + 60
    while not is_forgotten():
        assert time.monotonic() < end_at, "a dead process is waited for after its lease"


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.slow
def test_no_call_after_an_answered_change_meets_what_was_before(
    count: int, secrets: tuple[str, str], environment: Any
) -> None:
    series(count, 8, secrets, environment, nothing if count == 1 else outlives_a_dead_process)


@pytest.mark.slow
def test_a_command_and_a_second_person_publish_when_every_process_holds_to_it(
    secrets: tuple[str, str], environment: Any, token: Token, make_user: Callable[..., Any]
) -> None:
    second = token("publish", name="second", by=make_user("second", role="admin"))[1]
    out = io.StringIO()
    with served(1, secrets[0], secrets[1]) as here:
        document_import(environment, SHUT, by=None)
        call_command("policy", "publish", "-m", "shut", stdout=out)
        codes = here.codes()
        assert out.getvalue().splitlines()[1:] == ["heard by 1 of 1 processes that run calls"]
        assert codes == {"tool_not_found"}

        publish_rule_save(environment, by=None, needs_second_person=True, hours=1)
        document_import(environment, OPEN, by=None)
        live = _digest(environment)
        asked = publish_ask(environment, by=None, message="open", expected_live=live, at=timezone.now())
        headers = {"Authorization": f"Bearer {second}"}
        done(here.admins[0].post(f"/api/v1/publish-requests/{asked.shown_id}/confirm", json={}, headers=headers), 1)
        assert "tool_not_found" not in here.codes()


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_no_call_of_a_thousand_meets_what_was_before(count: int, secrets: tuple[str, str], environment: Any) -> None:
    series(count, 1000, secrets, environment, nothing)
