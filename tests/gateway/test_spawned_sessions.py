"""A session that another one spawned has no more than that had, at every door, whether its caller says so or not."""

import time
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.audit.models import Entry
from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.sessions import SessionName
from apps.firewall.tools.catalog import BUILTINS
from apps.gateway.lifecycle import gateway
from apps.sessions.models import Session
from apps.sessions.services import CHILDREN_KEPT, KEPT, sessions_sweep
from apps.sessions.spawns import spawn_of
from tests.database import owner_connection
from tests.gateway.conftest import call
from tests.gateway.mcp_clients import through
from tests.gateway.openclaw_plugin import Plugin
from tests.gateway.server import Holder, Server
from tests.gateway.test_decisions import Token, ask, eventually

GROUP = "agent:bot:telegram:group:-100"
CHILD = "agent:bot:subagent:c"
JOB = "agent:bot:job-7"
NAME = SessionName("production", "bot", CHILD)
DOCUMENT: dict[str, Any] = {
    "agents": {"entries": {"bot": {}}},
    "channels": {"telegram": {"groups": {"-100": {"tools": {"deny": ["exec"]}}}}},
    "tools": {"toolsBySender": {"id:7": {"deny": ["write"]}}, "exec": {"host": "gateway", "mode": "full"}},
}
TOLD: dict[str, Any] = {"channel": "telegram", "sender_id": "7"}


def snapshot() -> Snapshot:
    tools = [ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()]
    tools.append(ToolEntry("sessions_spawn", params={"type": "object"}))
    return build_snapshot(parse_document(DOCUMENT, dialect="2026.9", tools=tools))


@pytest.fixture
def holder() -> Holder:
    return Holder(snapshot())


@pytest.fixture
def client(server: Server, token: Token) -> Any:
    with server.client(token("calls_make", "decisions_ask")[1]) as made:
        yield made


def may(client: httpx.Client, tool: str, session: str, **context: Any) -> bool:
    return bool(ask(client, tool, session=session, context=context).json()["allowed"])


def spawned(client: httpx.Client, child: str = CHILD) -> None:
    """Have the parent make a call for the sender, then let a caller say once who spawned the child."""
    call(client, "read", {"path": "."}, session=GROUP, context=TOLD)
    assert (
        call(client, "read", {"path": "missing"}, session=child, context={"spawned_by": GROUP}).json()["error"]["code"]
        != "tool_not_found"
    )


@pytest.mark.parametrize("child", [CHILD, "agent:bot:acp:c", "agent:bot:dashboard:c", JOB])
def test_a_parent_told_once_holds_for_every_later_call(client: httpx.Client, child: str) -> None:
    assert may(client, "write", child) and may(client, "exec", child)

    spawned(client, child)

    assert not may(client, "write", child) and not may(client, "exec", child)
    refused = call(client, "write", {"path": "a", "content": ""}, session=child).json()
    assert refused["code"] == "tool_not_found"
    assert Entry.objects.filter(kind="denial").latest("seq").decision_layer == "inherited"
    assert Session.objects.get(key=child).parent_key == GROUP
    assert may(client, "write", "agent:bot:subagent:other")


def test_a_parent_told_counts_at_once_also_where_nothing_was_recorded_yet(client: httpx.Client) -> None:
    call(client, "read", {"path": "."}, session=GROUP, context=TOLD)

    assert may(client, "write", CHILD)
    assert not may(client, "write", CHILD, spawned_by=GROUP)


def test_whoever_names_another_parent_than_the_recorded_one_is_refused(client: httpx.Client) -> None:
    spawned(client)

    decision = ask(client, "read", session=CHILD, context={"spawned_by": "agent:bot:main"}).json()
    refused = call(client, "read", {"path": "."}, session=CHILD, context={"spawned_by": "agent:bot:main"}).json()

    assert (decision["allowed"], decision["reason"]) == (False, "context_contradiction")
    assert refused["error"]["code"] == "context_contradiction"
    assert f"the record says `{GROUP}`" in refused["error"]["message"]
    assert Session.objects.get(key=CHILD).parent_key == GROUP


def test_every_door_holds_the_child_to_it(client: httpx.Client, server: Server, token: Token) -> None:
    _, secret = token("calls_make", "decisions_ask", name="mcp")
    spawned(client)

    listed = client.get("/api/v1/tools", params={"agent": "bot", "session": CHILD, "provider": "openai"}).json()
    begun = client.post("/api/v1/runs", json={"agent": "bot", "session": CHILD, "provider": "openai"}).json()
    asked = client.post(
        "/api/v1/rpc/exec.approval.request", json={"agentId": "bot", "sessionKey": CHILD, "command": "ls"}
    )
    tools = through(server, secret, lambda each: each.list_tools(), query=f"agent=bot&session={CHILD}").tools

    offers = [{each["function"]["name"] for each in made["request"]["tools"]} for made in (listed, begun)]
    for names in (*offers, {each.name for each in tools}):
        assert "read" in names and {"write", "exec"}.isdisjoint(names)
    assert asked.json()["code"] == "tool_not_found"


def test_a_gateways_spawn_is_on_record_as_soon_as_it_reports_it(client: httpx.Client, server: Server) -> None:
    plugin = Plugin(server)
    try:
        begun = plugin.ask(tool="sessions_spawn", params={"task": "x"}, context=TOLD).json()
        assert begun["status"] == "run", begun
        plugin.report(begun["id"], result={"details": {"status": "accepted", "childSessionKey": CHILD}})
        assert eventually(lambda: Session.objects.filter(key=CHILD).exclude(spawn=None).exists())

        spawn = Session.objects.get(key=CHILD).spawn
        assert spawn is not None and (spawn["spawnedBy"], spawn["spawnDepth"]) == (GROUP, 1)
        assert {"write", "exec"} <= set(spawn["inheritedToolDeny"]) and spawn["inheritedToolPolicyVersion"] == 1
        assert eventually(lambda: not may(client, "write", CHILD))
        for tool, params in (("write", {"path": "a", "content": ""}), ("exec", {"command": "ls"})):
            answer = plugin.ask(tool=tool, params=params, session=CHILD, context={}).json()
            assert (answer["status"], answer["error"]["code"]) == ("denied", "tool_not_found")
    finally:
        plugin.client.close()


def test_a_result_lays_hold_of_no_session_that_was_not_spawned(client: httpx.Client, server: Server) -> None:
    plugin = Plugin(server)
    try:
        begun = plugin.ask(tool="sessions_spawn", params={"task": "x"}, context=TOLD).json()
        plugin.report(begun["id"], result={"details": {"childSessionKey": "agent:bot:main"}})
        assert eventually(lambda: Entry.objects.filter(kind="call_outcome").exists())
        time.sleep(0.3)

        assert not Session.objects.filter(key="agent:bot:main").exists()
    finally:
        plugin.client.close()


def test_what_was_seen_takes_the_place_of_what_was_told_and_nothing_takes_its_place(
    client: httpx.Client, server: Server
) -> None:
    call(client, "read", {"path": "."}, session=CHILD, context={"spawned_by": "agent:bot:main"})
    plugin = Plugin(server)
    try:
        for parent in (GROUP, "agent:bot:telegram:group:-200"):
            begun = plugin.ask(tool="sessions_spawn", params={"task": "x"}, session=parent, context=TOLD).json()
            plugin.report(begun["id"], result={"childSessionKey": CHILD})
            assert eventually(lambda: Entry.objects.filter(kind="call_outcome", session_key=parent).exists())  # noqa: B023
            assert eventually(lambda: Session.objects.get(key=CHILD).parent_key == GROUP)
    finally:
        plugin.client.close()


def test_another_process_hears_of_a_record(client: httpx.Client, server: Server) -> None:
    """The memory of this process stands for another one's: what it did not write itself it has from the notice."""
    assert may(client, "write", CHILD) and may(client, "write", JOB)  # both are remembered as having no parent
    told: list[Any] = []
    known = gateway().spawns
    told_here, known.told = known.told, lambda *said: told.append(said)  # type: ignore[method-assign]
    try:
        spawned(client)
        spawned(client, JOB)
        assert len(told) == 2
        assert eventually(lambda: not may(client, "write", CHILD) and not may(client, "write", JOB))
    finally:
        known.told = told_here  # type: ignore[method-assign]


def test_it_is_known_after_a_restart(client: httpx.Client, server: Server) -> None:
    spawned(client)
    spawned(client, JOB)

    server.run(gateway().spawns.reload())

    assert not may(client, "write", CHILD) and not may(client, "write", JOB)


def test_nothing_is_decided_while_nobody_can_tell(client: httpx.Client) -> None:
    with owner_connection() as owner:
        owner.execute("ALTER TABLE agent_sessions_session RENAME COLUMN spawn TO away")
    try:
        asked = ask(client, "read", session=CHILD)
        refused = call(client, "read", {"path": "."}, session=CHILD).json()
    finally:
        with owner_connection() as owner:
            owner.execute("ALTER TABLE agent_sessions_session RENAME COLUMN away TO spawn")

    assert (asked.status_code, asked.json()["code"]) == (503, "sessions_unavailable")
    assert (refused["status"], refused["error"]["code"]) == ("denied", "sessions_unavailable")


def test_a_child_is_remembered_longer_than_other_sessions(client: httpx.Client) -> None:
    spawned(client)

    sessions_sweep(timezone.now() + KEPT * 2)
    assert set(Session.objects.values_list("key", flat=True)) == {CHILD}
    sessions_sweep(timezone.now() + CHILDREN_KEPT * 2)
    assert not Session.objects.exists()


def test_a_child_recorded_by_an_earlier_version_has_its_lists_by_the_next_call(client: httpx.Client) -> None:
    spawned(client)
    Session.objects.filter(key=CHILD).update(spawn=None)
    gateway().spawns.forget(NAME)

    assert not may(client, "write", CHILD)
    call(client, "read", {"path": "."}, session=CHILD)
    assert (spawn_of(NAME) or {})["inheritedToolDeny"]
