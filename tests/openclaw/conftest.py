"""A server of ours, a model that is none, and a real gateway between them, in a network of its own if that may be."""

import asyncio
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.journeys.conftest import Installation, installation  # noqa: F401 - a fixture
from tests.openclaw.installing import NODE, ROOT, openclaw
from tests.openclaw.model import Model
from tests.openclaw.relay import carry
from tests.openclaw.rpc import Rpc
from tests.openclaw.verdicts import RealVerdicts

PORT = 18789
READY_S = 180
STOPPED_S = 180  # a gateway lets what runs come to its end first
POLICY = {
    "agents": {"list": [{"id": "main"}]},
    "tools": {"deny": ["write"], "exec": {"host": "gateway", "security": "allowlist", "ask": "on-miss"}},
}
ALLOWED = {"version": 1, "agents": {"main": {"allowlist": [{"pattern": "uname"}]}}}


@dataclass
class Relays:
    """Streams between the test's network and that of the gateway, over sockets in a folder."""

    loop: asyncio.AbstractEventLoop

    def carry(self, listen: str, target: str) -> None:
        asyncio.run_coroutine_threadsafe(carry(listen, target), self.loop).result(timeout=60)


@pytest.fixture(scope="module")
def relays() -> Iterator[Relays]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield Relays(loop)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(timeout=60)


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    made = Model()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def server(installation: Installation) -> Installation:  # noqa: F811
    """Publish what the agent may: `uname` at once, other commands when a person says so, and no `write`."""
    for name, document in (("openclaw.json", POLICY), ("approvals.json", ALLOWED)):
        (installation.var / name).write_text(json.dumps(document))
    installation.manage(
        "policy",
        "import",
        str(installation.var / "openclaw.json"),
        "--approvals",
        str(installation.var / "approvals.json"),
    )
    installation.manage("policy", "publish", "-m", "for the gateway")
    return installation


@dataclass
class RealGateway:
    """A running gateway: where it works, what it was told, and how to speak with it."""

    folder: Path
    token: str
    command: list[str]
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    rpc: Rpc | None = None

    @property
    def config(self) -> Path:
        return self.folder / "openclaw.json"

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def log(self) -> str:
        return (self.folder / "gateway.log").read_text(errors="replace")

    def start(self) -> None:
        with (self.folder / "gateway.log").open("ab") as output:
            self.process = subprocess.Popen(
                self.command, cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        until = time.monotonic() + READY_S
        transport = httpx.HTTPTransport(uds=str(self.folder / "gateway.sock"))
        with httpx.Client(transport=transport, base_url="http://127.0.0.1") as client:
            while not _is_ready(client):
                assert self.process.poll() is None and time.monotonic() < until, self.log[-4000:]
                time.sleep(0.3)
        self.rpc = Rpc(str(self.folder / "gateway.sock"), self.token)

    def stop(self) -> None:
        if self.rpc is not None:
            self.rpc.close()
        if self.process is not None:
            self.process.terminate()
            self.process.wait(STOPPED_S)
        (self.folder / "gateway.sock").unlink(missing_ok=True)

    def begin(self, tool: str, **args: Any) -> str:
        """Have the agent call a tool, in a session of its own; gives the id of its run."""
        assert self.rpc is not None
        name = uuid.uuid4().hex
        message = f"CALL {json.dumps({'name': tool, 'args': args})}"
        begun = self.rpc.ask(
            "agent", agentId="main", sessionKey=f"agent:main:{name[:8]}", message=message, idempotencyKey=name
        )
        return str(begun["runId"])

    def end(self, run: str, within_s: float = 90) -> None:
        """Wait until a run has ended."""
        assert self.rpc is not None
        ended = self.rpc.ask("agent.wait", runId=run, timeoutMs=int(within_s * 1000), within_s=within_s + 10)
        assert ended["status"] in {"ok", "error"}, (ended, self.log[-3000:])


def _is_ready(client: httpx.Client) -> bool:
    try:
        return bool(client.get("/readyz").json().get("ready"))
    except (httpx.TransportError, ValueError):
        return False


@pytest.fixture(scope="module")
def make_gateway(server: Installation, model: Model, relays: Relays) -> Iterator[Callable[..., RealGateway]]:
    """Make gateways whose configuration is still as one finds it: not governed, and not started."""
    made: list[RealGateway] = []

    def make() -> RealGateway:
        folder = Path(tempfile.mkdtemp(prefix="oca-gw-"))
        gateway = _gateway(folder, urlsplit(server.url).netloc, model)
        relays.carry(str(folder / "server.sock"), urlsplit(server.url).netloc)
        relays.carry(str(folder / "model.sock"), model.address)
        made.append(gateway)
        return gateway

    yield make
    for gateway in made:
        gateway.stop()
        shutil.rmtree(gateway.folder, ignore_errors=True)


def _gateway(folder: Path, server: str, model: Model) -> RealGateway:
    token = secrets.token_hex(16)
    for name in ("home", "state", "workspace"):
        (folder / name).mkdir()
    (folder / "openclaw.json").write_text(json.dumps(_config(folder, token, model), indent=2))
    (folder / "openclaw.json").chmod(0o600)
    run = ["gateway", "run", "--port", str(PORT), "--bind", "loopback", "--auth", "token", "--ws-log", "compact"]
    relay = [sys.executable, "-m", "tests.openclaw.relay", "--stream", f"{folder}/gateway.sock=127.0.0.1:{PORT}"]
    alone = can_be_alone()
    if alone:
        relay += ["--own-network", "--stream", f"{server}={folder}/server.sock"]
        relay += ["--stream", f"{model.address}={folder}/model.sock"]
    command = [*(["unshare", "--net"] if alone else []), *relay, "--", str(NODE), str(openclaw()), *run]
    return RealGateway(folder, token, command, _environment(folder, token))


def _environment(folder: Path, token: str) -> dict[str, str]:
    return {
        "PATH": f"{NODE.parent}:{os.environ['PATH']}",
        "HOME": str(folder / "home"),
        "LANG": "C.UTF-8",
        "OPENCLAW_STATE_DIR": str(folder / "state"),
        "OPENCLAW_CONFIG_PATH": str(folder / "openclaw.json"),
        "OPENCLAW_GATEWAY_TOKEN": token,
        "OPENCLAW_DISABLE_BONJOUR": "1",
        "OPENCLAW_NO_AUTO_UPDATE": "1",
        "OPENCLAW_SKIP_CHANNELS": "1",
        "OPENCLAW_SKIP_CRON": "1",
        "DO_NOT_TRACK": "1",
    }


def _config(folder: Path, token: str, model: Model) -> dict[str, Any]:
    fake = {"id": "fake-1", "name": "Fake 1", "contextWindow": 128000, "maxTokens": 4096}
    provider = {"baseUrl": f"http://{model.address}/v1", "apiKey": "x", "api": "openai-completions", "models": [fake]}
    return {
        "gateway": {"mode": "local", "bind": "loopback", "auth": {"mode": "token", "token": token}},
        "update": {"checkOnStart": False},
        "agents": {
            "ownership": "explicit",
            "defaults": {
                "model": {"primary": "fake/fake-1"},
                "workspace": str(folder / "workspace"),
                "skipBootstrap": True,
                "heartbeat": {"every": "0m"},
            },
            "entries": {"main": {}},
        },
        "models": {"providers": {"fake": provider}},
        "tools": {"profile": "coding", "exec": {"host": "gateway", "mode": "full"}},
        "logging": {"file": str(folder / "openclaw.log")},
    }


def can_be_alone() -> bool:
    """Say whether a process may have a network of its own, with nothing in it but loopback."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "--net", "true"], check=False, capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def api(server: Installation) -> Iterator[httpx.Client]:
    """Ask as an administrator's program."""
    scopes = ("approvals_read", "approvals_resolve", "audit_read", "policy_read", "gateways_manage", "calls_stop")
    headers = {"Authorization": f"Bearer {server.token(*scopes)}"}
    with httpx.Client(base_url=f"{server.url}/api/v1/", headers=headers, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealVerdicts]:
    made = RealVerdicts(tmp_path_factory.mktemp("package"))
    yield made
    made.close()


def govern(gateway: RealGateway, server: Installation, name: str, *options: str) -> None:
    """Enrol a gateway and write the plugin into its configuration, as the documentation says."""
    found = re.search(r"oce_\w+", server.manage("gateway", "enrol", name))
    assert found is not None
    enrolment = gateway.folder / "enrolment"
    enrolment.write_text(found[0])
    script = [str(NODE), str(ROOT / "openclaw-plugin" / "install.mjs"), "--server", server.url]
    done = subprocess.run(
        [*script, "--enrol-file", str(enrolment), *options],
        env=gateway.environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
