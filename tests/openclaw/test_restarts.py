"""Restarts of both sides of a real gateway while a call is asked about, runs, or is tried: each with its record."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.journeys.conftest import ROOT, Installation, _wait_until_ready
from tests.openclaw.conftest import STOPPED_S, RealGateway, govern
from tests.openclaw.model import Model
from tests.openclaw.test_real_gateway import answer, card, eventually, kinds

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def gateway(make_gateway: Callable[[], RealGateway], server: Installation) -> RealGateway:
    made = make_gateway()
    govern(made, server, "office", "--person-wait", "120")
    made.start()
    made.end(made.begin("exec", command="uname -s"), within_s=150)  # the first call of a gateway takes its time
    return made


def stop(server: Installation) -> None:
    assert server.process is not None
    server.process.terminate()
    server.process.wait(STOPPED_S)


def start(server: Installation) -> None:
    """Serve the installation again, where it was served before."""
    log = server.var / "serve.log"
    port = server.url.rpartition(":")[2]
    with log.open("ab") as output:
        server.process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", port],
            cwd=ROOT, env=server.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        )  # fmt: skip
    _wait_until_ready(server.url, server.process, log)


def entries(api: httpx.Client, command: str) -> list[dict[str, Any]]:
    """Read the entries of the call of a command, oldest first."""
    rows = api.get("audit/entries", params={"tool": "exec", "limit": 200}).json()["rows"]
    call = next((each["call_id"] for each in rows if command in str(each.get("params"))), None)
    return [each for each in reversed(rows) if each["call_id"] == call] if call else []


def outcomes(api: httpx.Client, command: str) -> list[str]:
    return [each["status"] for each in entries(api, command) if each["kind"] == "call_outcome"]


def test_the_console_restarts_while_a_person_is_asked_and_the_call_waits_on(
    gateway: RealGateway, server: Installation, api: httpx.Client
) -> None:
    run = gateway.begin("exec", command="touch asked-over-a-restart")
    card(api, "touch asked-over-a-restart")
    time.sleep(8)  # into the request that waits: the minute of grace begins when it breaks, not before
    stop(server)
    start(server)

    answer(api, card(api, "touch asked-over-a-restart"), "allow-once")
    gateway.end(run)

    assert (gateway.workspace / "asked-over-a-restart").exists()
    assert eventually(lambda: outcomes(api, "touch asked-over-a-restart") == ["completed"])
    assert kinds(api, "touch asked-over-a-restart") == [
        "approval_asked",
        "approval_answered",
        "call_intent",
        "call_outcome",
    ]


def test_a_report_that_comes_while_the_console_restarts_counts(
    gateway: RealGateway, server: Installation, api: httpx.Client
) -> None:
    command = "sh -c 'sleep 6; echo reported-later'"
    run = gateway.begin("exec", command=command)
    answer(api, card(api, command), "allow-once")
    assert eventually(lambda: kinds(api, command)[-1:] == ["call_intent"])
    stop(server)
    gateway.end(run)
    start(server)

    assert eventually(lambda: outcomes(api, command) == ["unknown", "completed"], within_s=150)
    last = entries(api, command)[-1]
    assert last["changes"]["told_later"] is True
    assert "reported-later" in str(last["result"])


def test_what_was_blocked_while_the_console_was_away_reaches_the_record(
    gateway: RealGateway, server: Installation, model: Model, api: httpx.Client
) -> None:
    stop(server)
    gateway.end(gateway.begin("exec", command="uname -m"))
    assert "cannot be asked" in model.results[-1]
    assert "uname -m" in (gateway.folder / "openclaw-admin.spool").read_text()
    assert (gateway.folder / "openclaw-admin.spool").stat().st_mode & 0o777 == 0o600
    start(server)

    assert eventually(lambda: kinds(api, "uname -m") == ["denial"], within_s=150)
    (entry,) = entries(api, "uname -m")
    assert (entry["error"]["code"], entry["changes"]["told_later"]) == ("not_asked", True)
    assert entry["changes"]["blocked_at"] < entry["at"]
    assert eventually(lambda: not (gateway.folder / "openclaw-admin.spool").exists())


def test_a_gateway_killed_while_a_person_is_asked_leaves_no_intent_and_no_card(
    gateway: RealGateway, api: httpx.Client
) -> None:
    gateway.begin("exec", command="touch never-made")
    approval = card(api, "touch never-made")
    kill(gateway)

    def is_gone() -> bool:
        return not any(each["id"] == approval["id"] for each in api.get("approvals").json())

    time.sleep(12)
    late = api.post(f"approvals/{approval['id']}/resolve", json={"decision": "allow-once", "reason": ""})
    assert late.status_code == 409, late.text
    assert "office no longer waits for the answer" in late.json()["message"]
    assert eventually(is_gone)
    assert "call_intent" not in kinds(api, "touch never-made")
    assert not (gateway.workspace / "never-made").exists()


def kill(gateway: RealGateway) -> None:
    """Kill a gateway as a machine that runs out of memory does: without a word."""
    assert gateway.process is not None
    if gateway.rpc is not None:
        gateway.rpc.close()
    for pid in tree_of(gateway.process.pid):
        os.kill(pid, signal.SIGKILL)
    gateway.process.wait(STOPPED_S)


def tree_of(pid: int) -> list[int]:
    """List a process and all that it started."""
    listed = subprocess.run(["ps", "axo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    found = [pid]
    for each in found:
        found += [child for child, parent in pairs if parent == each]
    return found
