"""What a gateway knows of a call, and which session spawned which: a layer that lacks a fact refuses."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.utils import timezone

from apps.audit.models import Entry
from apps.audit.retention.erasers import Subject
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource, SnapshotSource, ToolEntry
from apps.firewall.identifiers import read_id
from apps.firewall.tools.catalog import BUILTINS
from apps.openclaw_gateways.erasing import ERASER
from apps.openclaw_gateways.models import GatewayCall, SpawnedSession
from apps.openclaw_gateways.spawned import DEPTH_LIMIT, spawned_forget
from tests.gateway.openclaw_plugin import ASKS, FULL, Plugin, answer, asked
from tests.gateway.server import Holder, Server
from tests.gateway.test_decisions import eventually, reload

GROUP = "agent:bot:telegram:group:-100"
CHILD = "agent:bot:subagent:7f1d9c3e-0000-4000-8000-000000000001"
NOBODY = {"sender_id": None, "sender_username": None, "sender_name": None, "sender_e164": None}
ELSEWHERE = {"account_id": None, "group_channel": None, "group_space": None}
KNOWN = {"provider": "fake", "model_id": "fake-1", "spawned_by": None, "channel": "telegram", **NOBODY, **ELSEWHERE}


def policy(*, exec_settings: dict[str, str] = FULL, **parts: Any) -> Snapshot:
    """Make a snapshot of two agents; `parts` are members of its source."""
    return build_snapshot(
        SnapshotSource(
            environment="production",
            dialect="2026.9",
            tools=[
                ToolEntry("sessions_spawn"),
                *(ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()),
            ],
            agents=[AgentSource("bot"), AgentSource("clerk")],
            settings={"exec": exec_settings},
            **parts,
        )
    )


def deny(*names: str) -> Policy:
    return Policy(deny=names)


def groups(**members: Any) -> list[ChannelSource]:
    return [ChannelSource("telegram", {"groups": [GroupSource("-100", **members)]})]


@pytest.fixture
def holder() -> Holder:
    return Holder(policy())


@pytest.fixture
def publish(holder: Holder, server: Server) -> Any:
    def make(**parts: Any) -> None:
        holder.snapshot = policy(**parts)
        reload(server)

    return make


def verdict(plugin: Plugin, **question: Any) -> tuple[str, str]:
    told = plugin.ask(**question).json()
    return told["status"], (told.get("error") or {}).get("code", "")


def test_a_rule_by_provider_holds_where_the_gateway_tells_the_provider(plugin: Plugin, publish: Any) -> None:
    publish(by_provider=[("fake", deny("exec"))])
    assert verdict(plugin, context=KNOWN) == ("denied", "tool_not_found")
    assert verdict(plugin, context={**KNOWN, "provider": "other"}) == ("run", "")


def test_a_rule_by_model_refuses_where_only_the_provider_is_known(plugin: Plugin, publish: Any) -> None:
    publish(by_provider=[("fake/fake-1", deny("exec"))])
    bare = {name: value for name, value in KNOWN.items() if name != "model_id"}
    told = plugin.ask(context=bare).json()
    assert told["error"]["code"] == "fact_unknown"
    assert told["error"]["message"] == "`tools.byProvider.allow` cannot be decided: the gateway does not know the model"
    entry = Entry.objects.get(call_id=read_id("call", told["id"]))
    assert (entry.kind, entry.decision_layer) == ("denial", "fact_unknown")
    assert verdict(plugin, context={**bare, "provider": "other"}) == ("run", ""), "no rule names a model of that one"


@pytest.mark.parametrize(
    ("parts", "fact"),
    [
        ({"by_provider": [("fake", deny("exec"))]}, "the provider"),
        ({"by_sender": [("username:mallory", deny("exec"))]}, "the sender's username"),
        ({"by_sender": [("name:Mal", deny("exec"))]}, "the sender's name"),
        ({"by_sender": [("e164:+15550100", deny("exec"))]}, "the sender's phone number"),
        ({"channels": groups(by_sender=[("username:mallory", deny("exec"))])}, "the sender's username"),
    ],
)
def test_a_layer_whose_fact_an_older_plugin_never_sent_refuses(
    plugin: Plugin,
    publish: Any,
    parts: dict[str, Any],
    fact: str,
) -> None:
    publish(**parts)
    told = plugin.ask().json()
    assert (told["status"], told["error"]["code"]) == ("denied", "fact_unknown")
    assert told["error"]["message"].endswith(f"does not know {fact}")
    assert verdict(plugin, tool="read", params={"path": "notes.txt"})[0] == "run", "no rule concerns this tool"


def test_what_the_gateway_knows_to_be_none_is_no_unknown_fact(plugin: Plugin, publish: Any) -> None:
    publish(by_sender=[("username:mallory", deny("exec")), ("*", deny("write"))])
    context = {**KNOWN, "sender_id": "1001"}
    assert verdict(plugin, context=context) == ("run", "")
    assert verdict(plugin, context={**context, "sender_username": "@Mallory"}) == ("denied", "tool_not_found")
    assert verdict(plugin, tool="write", params={}, context=context) == ("denied", "tool_not_found")


def test_a_sender_whom_a_rule_names_by_id_needs_no_name(plugin: Plugin, publish: Any) -> None:
    publish(by_sender=[("id:1001", deny("write")), ("username:mallory", deny("exec"))])
    assert verdict(plugin) == ("run", "")


def test_other_callers_are_decided_as_before(agent: Any, publish: Any) -> None:
    publish(by_provider=[("fake", deny("exec"))])
    body = {"agent": "bot", "tool": "exec", "params": {"command": "echo hi"}}
    assert agent.post("/api/v1/calls", json=body).json()["status"] == "completed"


def test_a_guild_that_is_not_known_refuses_what_some_guild_denies(plugin: Plugin, publish: Any) -> None:
    publish(channels=[ChannelSource("discord", {"guilds": [GroupSource("g1", tools=deny("exec"))]})])
    question = {"session": "agent:bot:discord:channel:55"}
    context = {**KNOWN, "channel": "discord"}
    del context["group_space"]
    assert verdict(plugin, **question, context=context) == ("denied", "fact_unknown")
    assert verdict(plugin, **question, context={**context, "group_space": "g1"}) == ("denied", "tool_not_found")
    assert verdict(plugin, **question, context={**context, "group_space": "g2"}) == ("run", "")


def test_texts_that_no_record_can_keep_are_refused_by_name(plugin: Plugin) -> None:
    for value in ("a\0b", "x" * 513):
        refused = plugin.ask(context={**KNOWN, "sender_username": value})
        assert refused.status_code == 422
        assert refused.json()["details"][0]["path"] == "context.sender_username"
    assert plugin.ask(context={**KNOWN, "sender_shoe_size": 9}).status_code == 422


class TestChildren:
    """A group denies `exec`; a session that was spawned there asks for it."""

    @pytest.fixture
    def holder(self) -> Holder:
        return Holder(policy(channels=groups(tools=deny("exec"))))

    SPAWN = {"tool": "sessions_spawn", "params": {"task": "run it"}}

    def spawned(self, plugin: Plugin, child: str = CHILD, **more: Any) -> None:
        """Have the group's session spawn a child, and the gateway report it."""
        told = plugin.ask(**{**self.SPAWN, "session": GROUP, "context": {**KNOWN, "sender_id": "1001"}, **more}).json()
        assert told["status"] == "run", told
        plugin.report(told["id"], result={"details": {"status": "accepted", "childSessionKey": child}})

    def test_a_child_may_not_use_what_its_spawner_may_not(self, plugin: Plugin) -> None:
        assert verdict(plugin, session=GROUP, context=KNOWN) == ("denied", "tool_not_found")
        told = plugin.ask(session=CHILD, context={**KNOWN, "spawned_by": GROUP}).json()
        assert (told["status"], told["error"]["code"]) == ("denied", "tool_not_found")
        entry = Entry.objects.get(call_id=read_id("call", told["id"]))
        assert entry.decision_layer == "group"  # of the session that spawned it
        assert entry.changes is not None and entry.changes["context"]["spawned_by"] == GROUP
        other = {**KNOWN, "spawned_by": "agent:bot:main"}
        assert verdict(plugin, session=CHILD.replace("1", "2"), context=other) == ("run", "")

    def test_a_reported_spawn_tells_the_spawner_of_a_plugin_that_does_not(self, plugin: Plugin) -> None:
        self.spawned(plugin)
        assert SpawnedSession.objects.get().parent_key == GROUP
        forgot = {name: value for name, value in KNOWN.items() if name != "spawned_by"}
        assert verdict(plugin, session=CHILD, context=forgot) == ("denied", "tool_not_found")
        assert verdict(plugin, session=CHILD, context={}) == ("denied", "tool_not_found"), "an older plugin"

    def test_a_child_of_nobody_knows_whom_refuses_what_some_group_denies(self, plugin: Plugin) -> None:
        told = plugin.ask(session=CHILD, context={}).json()
        assert told["error"]["code"] == "fact_unknown"
        assert told["error"]["message"].endswith("does not know the session that spawned it")
        assert verdict(plugin, session=CHILD, context={"spawned_by": None}) == ("run", "")

    def test_what_the_gateway_told_once_is_kept(self, plugin: Plugin) -> None:
        told = {**KNOWN, "spawned_by": GROUP}
        assert verdict(plugin, session=CHILD, tool="write", params={}, context=told)[0] != "", "any call tells it"
        assert verdict(plugin, session=CHILD, context={**KNOWN, "spawned_by": None}) == ("denied", "tool_not_found")

    def test_a_grandchild_is_held_to_what_its_first_spawner_may(self, plugin: Plugin) -> None:
        self.spawned(plugin)
        grandchild = CHILD.replace("7f1d", "8a2e")
        context = {**KNOWN, "spawned_by": CHILD, "subagent_depth": 2}
        assert verdict(plugin, session=grandchild, context=context) == ("denied", "tool_not_found")

    def test_a_child_of_another_agent_is_held_to_it_too(self, plugin: Plugin) -> None:
        child = CHILD.replace("agent:bot", "agent:clerk")
        self.spawned(plugin, child=child)
        assert verdict(plugin, agent="clerk", session=child, context={}) == ("denied", "tool_not_found")

    def test_only_a_spawn_says_who_is_a_child(self, plugin: Plugin) -> None:
        hostile = {"details": {"childSessionKey": CHILD, "status": "accepted"}}
        told = plugin.ask(tool="read", params={"path": "x"}, session="agent:bot:main", context=KNOWN).json()
        plugin.report(told["id"], result=hostile)
        self.spawned(plugin, child=GROUP.replace("-100", "-200"))
        assert not SpawnedSession.objects.exists()

    def test_the_result_of_tool_search_tells_a_spawn(self, plugin: Plugin) -> None:
        told = plugin.ask(tool="tool_call", params={"id": "sessions_spawn"}, session=GROUP, context=KNOWN).json()
        spawn = {"tool": {"name": "sessions_spawn"}, "result": {"details": {"childSessionKey": CHILD}}}
        plugin.report(told["id"], result={"details": spawn})
        assert SpawnedSession.objects.get().session_key == CHILD


class TestChildrenOfASender:
    """A group denies `exec` to one sender; what the session spawns for them is theirs, whoever speaks later."""

    @pytest.fixture
    def holder(self) -> Holder:
        return Holder(policy(channels=groups(by_sender=[("id:1001", deny("exec"))])))

    def spawned_for(self, plugin: Plugin, sender: str, child: str) -> None:
        context = {**KNOWN, "sender_id": sender}
        told = plugin.ask(tool="sessions_spawn", params={}, session=GROUP, context=context).json()
        plugin.report(told["id"], result={"details": {"childSessionKey": child}})

    def test_a_child_is_decided_as_whoever_had_it_spawned(self, plugin: Plugin) -> None:
        other = CHILD.replace("7f1d", "8a2e")
        self.spawned_for(plugin, "1001", CHILD)
        self.spawned_for(plugin, "1002", other)
        told = {**KNOWN, "spawned_by": GROUP}
        assert verdict(plugin, session=CHILD, context=told) == ("denied", "tool_not_found")
        assert verdict(plugin, session=other, context=told) == ("run", "")

    def test_so_is_the_run_that_brings_the_spawner_its_end(self, plugin: Plugin) -> None:
        self.spawned_for(plugin, "1001", CHILD)
        announced = {"session": GROUP, "context": KNOWN, "run": f"announce:v1:{CHILD}:c0ffee"}
        assert verdict(plugin, **announced) == ("denied", "tool_not_found")
        assert verdict(plugin, session=GROUP, context=KNOWN) == ("run", ""), "nobody speaks"

    def test_who_spoke_in_a_spawner_that_asked_nothing_is_not_known(self, plugin: Plugin) -> None:
        told = plugin.ask(session=CHILD, context={**KNOWN, "spawned_by": GROUP}).json()
        assert told["error"]["code"] == "fact_unknown"
        assert (
            "the gateway does not know of the session that spawned this one the sender's id" in told["error"]["message"]
        )


def test_what_a_person_allowed_a_child_runs_as_it_was_asked(plugin: Plugin, publish: Any, operator: Any) -> None:
    publish(exec_settings=ASKS, channels=groups(by_sender=[("id:1001", deny("exec"))]))
    context = {**KNOWN, "sender_id": "1002"}
    plugin.ask(tool="sessions_spawn", params={}, session=GROUP, context=context)
    body = asked(plugin, session=CHILD, context={**KNOWN, "spawned_by": GROUP})
    answer("allow-once", operator)
    told = plugin.client.get(f"/api/v1/openclaw/calls/{body['id']}?wait=8000").json()
    assert told["status"] == "run", told


def test_a_spawner_that_cannot_be_read_any_more_is_a_denial_on_record(plugin: Plugin) -> None:
    plugin.ask(session=CHILD, context={**KNOWN, "spawned_by": GROUP})
    SpawnedSession.objects.update(context={"context": {"shoe_size": 9}, "known": []})
    told = plugin.ask(session=CHILD, context={**KNOWN, "spawned_by": GROUP}).json()
    assert told["status"] == "denied"
    entry = Entry.objects.get(call_id=read_id("call", told["id"]))
    assert (entry.decision_layer, "shoe_size" in entry.decision_reason) == ("error", True)


def test_sessions_that_spawned_one_another_without_end_are_not_followed(plugin: Plugin) -> None:
    keys = [f"agent:bot:subagent:{number}" for number in range(DEPTH_LIMIT + 2)]
    for child, parent in pairwise(keys):
        plugin.ask(session=child, context={**KNOWN, "spawned_by": parent}, tool="nothing")
    refused = plugin.ask(session=keys[0], context={**KNOWN, "spawned_by": keys[1]})
    assert (refused.status_code >= 400, refused.json()["code"]) == (True, "openclaw_gateway_error")
    SpawnedSession.objects.filter(session_key=keys[-2]).update(parent_key=keys[0])  # a ring
    SpawnedSession.objects.exclude(session_key__in=keys[:2] + keys[-2:]).delete()
    SpawnedSession.objects.filter(session_key=keys[1]).update(parent_key=keys[-2])
    assert verdict(plugin, session=keys[0], context={**KNOWN, "spawned_by": keys[1]}) == ("run", "")


def test_sessions_that_asked_nothing_for_a_month_are_forgotten(plugin: Plugin) -> None:
    plugin.ask(session=CHILD, context={**KNOWN, "spawned_by": GROUP})
    assert spawned_forget(timezone.now() + timedelta(days=29)) == 0
    assert spawned_forget(timezone.now() + timedelta(days=31)) == 1


def test_an_erased_sender_leaves_nothing_of_what_a_gateway_said_of_them(plugin: Plugin) -> None:
    context = {**KNOWN, "sender_id": "1001", "sender_name": "Mal"}
    told = plugin.ask(tool="sessions_spawn", params={}, session=GROUP, context=context).json()
    plugin.report(told["id"], result={"details": {"childSessionKey": CHILD}})
    assert eventually(lambda: not GatewayCall.objects.filter(ended_at=None).exists())
    subject = Subject(channel="telegram", sender="1001")
    assert ERASER.count(subject) == 2
    ERASER.erase(subject, timezone.now())
    assert ERASER.count(subject) == 0
    assert not SpawnedSession.objects.exists()
    assert GatewayCall.objects.get().context is None
