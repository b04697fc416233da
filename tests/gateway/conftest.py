"""A server on a real socket, and the agents who call it."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.tools.catalog import BUILTINS
from apps.policies.services import document_import, publish
from tests.gateway.catalogues import CODE
from tests.gateway.server import Holder, Server

LISTED = {"agents": {"*": {"allowlist": [{"pattern": "/**/sleep"}, {"pattern": "/**/echo"}]}}}


def snapshot_with(
    *,
    deny: tuple[str, ...] = (),
    settings: Mapping[str, Any] | None = None,
    approvals: Mapping[str, Any] = LISTED,
    dialect: str = "2026.9",
    groups: Mapping[str, Any] | None = None,
) -> Snapshot:
    """Make a snapshot in which `bot` and `clerk` have the built-in tools; `deny` is the list of `bot`."""
    return build_snapshot(
        SnapshotSource(
            environment="production",
            dialect=dialect,
            tools=[ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()],
            agents=[AgentSource("bot", policy=Policy(allow=None, deny=deny)), AgentSource("clerk")],
            settings={"exec": dict(settings or {})} | ({} if groups is None else {"groups": groups}),
            exec_approvals=approvals,
        )
    )


def publish_first(environment: Any, document: str) -> None:
    """Make a document the first publication of an environment."""
    document_import(environment, document, by=None)
    publish(environment, by=None, message="the beginning", expected_live="")


@pytest.fixture
def holder() -> Holder:
    return Holder(snapshot_with())


@pytest.fixture
def server(transactional_db: None, environment: Any, holder: Holder, tmp_path: Path, settings: Any) -> Iterator[Server]:
    settings.VAR_DIR = tmp_path / "var"
    running = Server(holder.snapshots()).start()
    yield running
    running.stop()


@pytest.fixture
def plugin(server: Server) -> Iterator[Any]:
    from tests.gateway.openclaw_plugin import Plugin  # whose helpers import from here

    made = Plugin(server)
    yield made
    made.client.close()


@pytest.fixture
def secret(token: Callable[..., tuple[Any, str]]) -> str:
    """A token that makes calls, and no more."""
    return token("calls_make")[1]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A folder with the tool that catalogues are made of."""
    made = tmp_path / "tools"
    made.mkdir()
    (made / "answering.py").write_text(CODE)
    return str(made)


@pytest.fixture
def agent(server: Server, token: Callable[..., tuple[Any, str]]) -> Iterator[httpx.Client]:
    """An agent's program with the usual token."""
    _, secret = token("calls_make", "decisions_ask")
    with server.client(secret) as client:
        yield client


def call(client: httpx.Client, tool: str, params: Mapping[str, Any] | None = None, **more: Any) -> httpx.Response:
    """Make a call of `bot`."""
    return client.post("/api/v1/calls", json={"agent": "bot", "tool": tool, "params": params or {}, **more})


def leaves(client: httpx.Client, path: str, body: Mapping[str, Any], *, once: Callable[[], object]) -> None:
    """Ask as this client does, and go away without an answer once something holds."""
    connection = HTTPConnection(client.base_url.host, client.base_url.port, timeout=60)
    headers = {"Authorization": client.headers["Authorization"], "Content-Type": "application/json"}
    connection.request("POST", path, json.dumps(body), headers)
    end = time.monotonic() + 60
    while not once():
        assert time.monotonic() < end, "what the caller waits for before it leaves did not happen"
        time.sleep(0.02)
    connection.close()
