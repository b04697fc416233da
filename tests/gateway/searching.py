"""What tests of refused tool search share: a vault among many tools, every way into a run, and what each answers."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx
import pytest

from apps.audit.models import Entry
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.sandbox.node import node_problem
from apps.firewall.tools.catalog import BUILTINS
from tests.gateway.catalogues import plugin_tools, tool_entry
from tests.gateway.replies import REPLIES
from tests.gateway.server import Holder, Server
from tests.gateway.test_decisions import reload

URL = "/api/v1/runs"
VAULT = "vault_open"
VAULT_ID = "plugin:vault:vault_open"
WORDS = "open the vault of the bank"
ARGUMENTS = {"name": "gold"}
MANY = 60
ECHO = {"agents": {"*": {"allowlist": [{"pattern": "/**/echo"}]}}}
Live = Callable[..., None]
needs_node = pytest.mark.skipif(bool(node_problem()), reason=node_problem() or "-")


def vault(folder: str, **more: Any) -> ToolEntry:
    """Make the tool that somebody is after; it belongs to a plugin of its own."""
    return tool_entry(VAULT, folder, "Open the vault of the bank, and take what is in it.", plugin="vault", **more)


def bank(folder: str, *, tools: Sequence[ToolEntry] | None = None, search: Any = None, **source: Any) -> Snapshot:
    """Make a snapshot of many tools and the vault, for `bot` and `clerk`; more as `SnapshotSource` takes it.

    Args:
        tools: in place of the vault; one of them may take the place of a core tool.
    """
    named = {each.name for each in tools or ()}
    definitions = {name: tool.definition for name, tool in BUILTINS.items() if name not in named}
    core = [ToolEntry(name, params=definition.parameters) for name, definition in definitions.items()]
    block = {} if search is None else {"toolSearch": search}
    source.setdefault("agents", [AgentSource("bot"), AgentSource("clerk")])
    return build_snapshot(
        SnapshotSource(
            environment="production",
            tools=[*core, *plugin_tools(folder, MANY), *([vault(folder)] if tools is None else tools)],
            settings={**source.pop("settings", {}), **block},
            **{"exec_approvals": ECHO, **source},
        )
    )


@pytest.fixture
def holder(folder: str) -> Holder:
    return Holder(bank(folder))


@pytest.fixture
def live(server: Server, holder: Holder, folder: str) -> Live:
    """Publish another bank: `live(policy=…)`."""

    def publish(**source: Any) -> None:
        holder.snapshot = bank(folder, **source)
        reload(server)

    return publish


class Run:
    """A run of an agent, and every way into it."""

    def __init__(self, client: httpx.Client, **body: Any) -> None:
        self.client = client
        self.body: dict[str, Any] = {"agent": "bot", "provider": "acme", **body}
        answered = client.post(URL, json=self.body)
        assert answered.status_code == 201, answered.text
        self.begun: dict[str, Any] = answered.json()
        self.id: str = self.begun["id"]
        self._turns = 0

    def tools(self, control: str, body: Mapping[str, Any]) -> httpx.Response:
        return self.client.post(f"{URL}/{self.id}/tools/{control}", json=dict(body))

    def search(self, query: str, **more: Any) -> httpx.Response:
        return self.tools("search", {"query": query, **more})

    def describe(self, selector: str) -> httpx.Response:
        return self.tools("describe", {"id": selector})

    def call(self, selector: str, args: Mapping[str, Any] | None = None, **more: Any) -> httpx.Response:
        return self.tools("call", {"id": selector, "args": dict(ARGUMENTS if args is None else args), **more})

    def code(self, code: str, **more: Any) -> httpx.Response:
        return self.tools("code", {"code": code, **more})

    def turn(self, *calls: tuple[str, Any], **more: Any) -> dict[str, Any]:
        """Take a turn of the model, as a new reply."""
        self._turns += 1
        reply = REPLIES["openai-chat"](calls, f"reply{self._turns}")
        answered = self.client.post(f"{URL}/{self.id}/turns", json={"response": reply, **more})
        assert answered.status_code in {200, 202}, answered.text
        made: dict[str, Any] = answered.json()
        return made

    def model_reads(self, *calls: tuple[str, Any]) -> list[Any]:
        """Give what the model is told of each call of a turn."""
        messages = self.turn(*calls)["messages"]
        return [json.loads(each["content"]) for each in messages if each["role"] == "tool"]

    def direct(self, tool: str, params: Mapping[str, Any] | None = None) -> httpx.Response:
        """Call a tool beside the run, as the same caller does without tool search."""
        context = {**self.body.get("context", {}), "provider": self.body["provider"]}
        body = {"agent": self.body["agent"], "tool": tool, "params": dict(ARGUMENTS if params is None else params)}
        session = {"session": self.body["session"]} if "session" in self.body else {}
        return self.client.post("/api/v1/calls", json={**body, **session, "context": context})

    def offered(self) -> dict[str, Any]:
        """Ask what the run is offered now."""
        answered = self.client.get(f"{URL}/{self.id}/tools")
        assert answered.status_code == 200, answered.text
        body: dict[str, Any] = answered.json()
        return body

    def told(self) -> dict[str, Any]:
        body: dict[str, Any] = self.client.get(f"{URL}/{self.id}").json()
        return body

    def end(self) -> httpx.Response:
        return self.client.post(f"{URL}/{self.id}/end", json={})


def intents(tool: str = VAULT) -> int:
    """Count the calls of a tool that were meant to run: without one on record nothing does."""
    return Entry.objects.filter(kind="call_intent", tool=tool).count()


def layers(tool: str = VAULT) -> list[str]:
    """Name the layers that refused calls of a tool, in the order of the ledger."""
    return list(Entry.objects.filter(kind="denial", tool=tool).order_by("seq").values_list("decision_layer", flat=True))


def code_of(answered: httpx.Response) -> str:
    """Name what went wrong, by the code of the answer."""
    body = answered.json()
    return str((body.get("error") or body).get("code", ""))
