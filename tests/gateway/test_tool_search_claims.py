"""The six claims of tool search, end to end: a server on a socket, a model provider on another, an agent between them.

1. without search the model calls a plugin's tool; 2. with it, it calls the same one to the same end; 3. without search
it is sent every schema; 4. with it, the compact surface alone; 5. that is smaller; 6. the ledger tells of all of it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.audit.models import Entry
from apps.audit.selectors import call_record
from apps.firewall.identifiers import read_id, show_id
from apps.firewall.sandbox.node import node_problem
from apps.firewall.tools.catalog import BUILTINS
from tests.gateway.catalogues import CODE, plugin_tools, snapshot_of
from tests.gateway.model_provider import Provider, loop
from tests.gateway.server import Holder, Server
from tests.gateway.test_calls import kinds
from tests.gateway.test_decisions import reload

TOOLS = 300
WANTED = "contract_approve_3"
ID = f"plugin:crm:{WANTED}"
QUERY = "approve a contract in the books of department 3"
ARGUMENTS = {"name": "lease", "amount": 3}
RESULT = {"given": ARGUMENTS}
CONTROLS = ["tool_search", "tool_describe", "tool_call"]
SURFACES: dict[str, tuple[Any, list[str]]] = {
    "tools": (None, CONTROLS),
    "directory": ({"mode": "directory"}, CONTROLS),
    "code": (True, ["tool_search_code"]),
}
"""Mode -> what `tools.toolSearch` says for it, and the controls that a model sees."""

LEDGER = {
    "tools": ["tool_search", WANTED],
    "directory": [WANTED],
    "code": ["tool_search_code", WANTED],
}
THROUGH = {"tools": "tool_call", "directory": "hydrated", "code": "code"}
COUNTS = {
    "tools": {"search": 1, "describe": 0, "code": 0, "call": 1},
    "directory": {"search": 0, "describe": 0, "code": 0, "call": 1},
    "code": {"search": 1, "describe": 0, "code": 1, "call": 1},
}
needs_node = pytest.mark.skipif(bool(node_problem()), reason=node_problem() or "-")
each_mode = pytest.mark.parametrize("mode", ["tools", "directory", pytest.param("code", marks=needs_node)])


@dataclass(frozen=True)
class Story:
    """What an agent went through in one mode, until its model had its result."""

    run: dict[str, Any]
    told: dict[str, Any]
    provider: Provider

    @property
    def payload(self) -> bytes:
        """The first request to the model: what it sees before it did anything."""
        return self.provider.payloads[0]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "answering.py").write_text(CODE)
    return str(tmp_path / "tools")


@pytest.fixture
def holder(folder: str) -> Holder:
    return Holder(snapshot_of(plugin_tools(folder, TOOLS), search=False))


@pytest.fixture
def provider() -> Iterator[Provider]:
    made = Provider(WANTED, QUERY, ARGUMENTS)
    yield made
    made.stop()


@pytest.fixture
def model(server: Server, agent: httpx.Client, holder: Holder, folder: str, provider: Provider) -> Any:
    """Let an agent do its task where `tools.toolSearch` says this."""

    def live(search: Any) -> Story:
        holder.snapshot = snapshot_of(plugin_tools(folder, TOOLS), search=search)
        reload(server)
        provider.forget()
        begun = agent.post("/api/v1/runs", json={"agent": "bot", "provider": "acme", "model": "fake-1"})
        assert begun.status_code == 201, begun.text
        run = begun.json()
        loop(agent, provider, run, "Approve the lease, please.")
        return Story(run, agent.get(f"/api/v1/runs/{run['id']}").json(), provider)

    return live


def ledger() -> list[str]:
    """Name the tools of the calls that were meant to run, in their order."""
    return list(Entry.objects.filter(kind="call_intent").order_by("seq").values_list("tool", flat=True))


def controls() -> list[Entry]:
    return list(Entry.objects.filter(kind="call_intent", tool__startswith="tool_search").order_by("seq"))


def shown(entry: Entry) -> str:
    assert entry.call_id is not None
    return show_id("call", entry.call_id)


def bridge_of(entry: Entry) -> Any:
    return (entry.changes or {})["tool_search"]


def test_without_search_the_model_calls_a_plugins_tool_and_is_sent_every_schema(model: Any) -> None:
    story = model(False)

    assert (story.run["mode"], story.run["why"]) == ("direct", "off")
    assert story.provider.answered() == RESULT
    sent = json.loads(story.payload)["tools"]
    assert set(story.provider.tools()) == {*BUILTINS, *(each.name for each in plugin_tools("", TOOLS))}
    assert not {*CONTROLS, "tool_search_code"} & set(story.provider.tools())
    assert all(each["function"]["parameters"]["type"] == "object" for each in sent)
    assert ledger() == [WANTED]
    (call,) = story.told["calls"]
    assert (call["through"], call["rank"], call["status"]) == ("direct", None, "completed")
    assert story.told["counts"] == {"search": 0, "describe": 0, "code": 0, "call": 1}


@each_mode
@pytest.mark.slow
def test_with_search_the_model_calls_the_same_tool_to_the_same_end(model: Any, mode: str) -> None:
    direct = model(False)
    straight = direct.provider.answered()

    found = model(SURFACES[mode][0])

    assert found.run["mode"] == mode
    assert found.provider.answered() == straight == RESULT
    (one,), (other,) = direct.told["calls"], found.told["calls"]
    assert one["tool"] == other["tool"] == ID
    assert kinds(one["id"]) == kinds(other["id"]) == [("call_intent", "started"), ("call_outcome", "completed")]
    records = [call_record(read_id("call", each["id"])) for each in (one, other)]
    assert records[0] is not None and records[1] is not None
    assert [(each.params, each.decision, each.agent, each.result) for each in records if each] == [
        (ARGUMENTS, "allow", "bot", RESULT)
    ] * 2


@each_mode
def test_search_exposes_the_compact_surface_alone(model: Any, mode: str) -> None:
    setting, controls = SURFACES[mode]

    story = model(setting)

    seen = story.provider.tools()
    assert set(seen) == {*BUILTINS, *controls}
    assert seen[-len(controls) :] == controls
    assert all(story.provider.tools(number) == seen for number in range(len(story.provider.payloads)))
    schema_of_the_wanted = b"is about, in a few words"
    assert schema_of_the_wanted not in story.payload
    names = [each.name for each in plugin_tools("", TOOLS)]
    told = [name for name in names if name in story.payload.decode()]
    assert told == (names if mode == "directory" else [])


@each_mode
def test_the_request_is_smaller_on_a_large_catalogue(model: Any, mode: str) -> None:
    direct = len(model(False).payload)

    story = model(SURFACES[mode][0])

    size, counted = len(story.payload), story.run["bytes"]
    assert size < direct
    assert counted["offered"] < counted["direct"]
    # what is counted is what goes over the wire, but for the words of the conversation
    assert abs((direct - size) - (counted["direct"] - counted["offered"])) < 400
    if mode == "directory":
        assert len(story.run["directory"]) <= 18_000
        assert story.told["bytes"]["directory_characters"] == len(story.run["directory"])
    else:
        assert size <= direct / 10
        assert counted["offered"] <= counted["direct"] / 10


@each_mode
def test_the_ledger_shows_the_expected_calls_and_what_came_through_the_bridge(model: Any, mode: str) -> None:
    story = model(SURFACES[mode][0])
    run = story.run["id"]

    assert ledger() == LEDGER[mode]
    ended = Entry.objects.filter(kind="call_outcome").values_list("tool", "status")
    assert sorted(ended) == sorted((tool, "completed") for tool in LEDGER[mode])
    (call,) = story.told["calls"]
    rank = None if mode == "directory" else call["rank"]
    assert call == {
        "id": call["id"],
        "tool": ID,
        "name": WANTED,
        "source": "plugin",
        "through": THROUGH[mode],
        "rank": rank,
        "status": "completed",
    }
    told = dict(bridge_of(Entry.objects.get(kind="call_intent", call_id=read_id("call", call["id"]))))
    parent = told.pop("parent", None)
    assert told == {"run": run, "through": THROUGH[mode], "source": "plugin"} | ({"rank": rank} if rank else {})
    assert story.told["counts"] == COUNTS[mode]
    assert story.told["catalogue"]["sources"] == {"core": len(BUILTINS), "plugin": TOOLS}
    assert [bridge_of(each) for each in controls()] == [{"run": run, "through": "control"}] * len(LEDGER[mode][:-1])
    assert (parent in [shown(each) for each in controls()]) == (mode == "code") == (parent is not None)
    if mode == "directory":
        assert story.told["searches"] == []
    else:
        (search,) = story.told["searches"]
        assert rank is not None
        assert (search["query"], search["found"][rank - 1]) == (QUERY, ID)
