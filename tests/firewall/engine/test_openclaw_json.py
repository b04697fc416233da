"""The policy of an openclaw.json: what is read, what counts as absent, what is refused."""

from pathlib import Path
from typing import Any

import json5
import pytest

from apps.firewall.engine.openclaw_json import DocumentError, parse_document
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import build_snapshot, load_snapshot
from apps.firewall.engine.source import SnapshotSource

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "openclaw.full.json5"


def _read(document: dict[str, Any], dialect: str = "2026.9") -> SnapshotSource:
    return parse_document(document, dialect=dialect, tools=[])


def test_it_reads_every_policy_of_the_sample() -> None:
    source = _read(json5.loads(SAMPLE.read_text(encoding="utf-8")))
    assert source.policy == Policy(profile="full", deny=("x_search",))
    assert [key for key, _ in source.by_provider] == ["openai", "google/gemini-3"]
    assert [key for key, _ in source.by_sender] == ["id:42", "e164:+15550001111", "username:bob", "name:Bob"]
    assert source.sandbox == Policy(also_allow=("web_search",), deny=("nodes",))
    assert source.subagents == Policy(deny=("gateway", "cron"))
    assert source.max_spawn_depth == 2
    assert source.owners == ["telegram:1001"]
    assert source.agents is not None
    assert [agent.id for agent in source.agents] == ["main", "ops"]
    assert source.agents[0].sandbox == Policy(allow=("read", "exec"), deny=("web_fetch",))
    (telegram,) = source.channels
    assert [group.key for group in telegram.maps["groups"]] == ["*", "-100123"]
    assert telegram.maps["groups"][1].tools == Policy(allow=("read", "web_search"))


def test_the_sample_makes_a_snapshot_that_survives_its_bytes() -> None:
    snapshot = build_snapshot(_read(json5.loads(SAMPLE.read_text(encoding="utf-8"))))
    assert load_snapshot(snapshot.to_bytes(), expected_digest=snapshot.digest).exec_settings("main").ask == "on-miss"


def test_entries_replace_the_list_of_agents_in_the_newer_release() -> None:
    document = {"agents": {"list": [{"id": "a"}], "entries": {"b": {}}}}
    newer, older = _read(document).agents, _read(document, "2026.2").agents
    assert newer is not None
    assert older is not None
    assert ([agent.id for agent in newer], [agent.id for agent in older]) == (["b"], ["a"])


def test_entries_replace_the_list_even_when_they_are_null() -> None:
    assert _read({"agents": {"list": [{"id": "a"}], "entries": None}}).agents == []


def test_no_agents_at_all_is_told_from_an_empty_list() -> None:
    assert _read({"agents": {}}).agents is None
    assert _read({"agents": {"list": []}}).agents == []


def test_an_empty_profile_is_told_from_an_absent_one() -> None:
    assert _read({"tools": {"profile": ""}}).policy == Policy(profile="")
    assert _read({"tools": {}}).policy == Policy()
    assert _read({}).policy is None


def test_nested_maps_and_accounts_are_read() -> None:
    document = {
        "channels": {
            "discord": {"guilds": {"7": {"slug": "home", "channels": {"general": {"tools": {"deny": ["exec"]}}}}}},
            "slack": {"accounts": {"work": {"channels": {"C1": {"tools": {}}}}}},
        }
    }
    discord, slack = _read(document).channels
    guild = discord.maps["guilds"][0]
    assert (guild.slug, guild.channels and guild.channels[0].tools) == ("home", Policy(deny=("exec",)))
    assert slack.accounts[0].maps["channels"][0].tools == Policy()


@pytest.mark.parametrize("value", [None, 5, "x", [], True])
def test_what_is_no_object_counts_as_absent(value: Any) -> None:
    document = {
        "tools": value,
        "agents": value,
        "channels": {"telegram": value},
        "commands": value,
    }
    source = _read(document)
    assert (source.policy, source.agents, source.channels, source.owners) == (None, None, [], [])


def test_a_list_with_something_else_than_names_is_refused_with_its_path() -> None:
    with pytest.raises(DocumentError) as caught:
        _read({"agents": {"entries": {"bot": {"tools": {"byProvider": {"openai": {"deny": ["a", 5]}}}}}}})
    assert caught.value.path == "agents.bot.tools.byProvider.openai"
    assert "deny[1]" in caught.value.message


def test_numbers_with_a_point_become_whole() -> None:
    source = _read({"tools": {"exec": {"timeoutSeconds": 600.0}}, "commands": {"ownerAllowFrom": [1001, True]}})
    assert source.settings["exec"] == {"timeoutSeconds": 600}
    assert source.owners == ["1001"]
    assert build_snapshot(source).exec_settings("main").timeout_s == 600


@pytest.mark.parametrize("block", [True, False, {"mode": "tools", "maxSearchLimit": 9}])
def test_tool_search_is_everybodys_and_no_agent_has_its_own(block: Any) -> None:
    agents = {"entries": {"bot": {"tools": {"toolSearch": False}}}}

    source = _read({"tools": {"toolSearch": block}, "agents": agents})

    assert source.settings["toolSearch"] == block
    assert source.agents is not None
    assert "toolSearch" not in source.agents[0].settings
    assert "toolSearch" not in _read({"agents": agents}).settings
