"""What an export leaves out, writes in the current form, and what an import says of servers that nobody knows here."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.policies.selectors import document_export, document_for_release
from apps.policies.services import document_import
from apps.registry.services import source_create

OLD = {
    "meta": {"lastTouchedVersion": "2026.3.13", "lastTouchedAt": "2026-03-22T06:38:04Z"},
    "agents": {"defaults": {"memorySearch": {"enabled": True}}, "entries": {"main": {}}},
    "commands": {"ownerDisplay": "raw", "ownerAllowFrom": ["telegram:1"]},
    "gateway": {"nodes": {"denyCommands": []}},
    "tools": {"profile": "coding"},
    "channels": {"of-a-plugin": {"anything": True}},
}
REFUSED = {"meta.lastTouchedAt", "agents.defaults.memorySearch", "commands.ownerDisplay", "gateway.nodes.denyCommands"}
SEVERAL: dict[str, Any] = {"agents": {"list": [{"id": "main", "default": True}, {"id": "research"}]}}


def exported(environment: Any, document: Any) -> dict[str, Any]:
    document_import(environment, json.dumps(document), by=None)
    return document_for_release(environment, document_export(environment, secrets="open"))[0]


def test_keys_that_the_release_refuses_are_kept_here_and_left_out_of_an_export(environment: Any) -> None:
    document_import(environment, json.dumps(OLD), by=None)

    released, dropped = document_for_release(environment, document_export(environment))

    assert set(dropped) == REFUSED
    assert document_export(environment, secrets="open") == OLD
    assert released["commands"] == {"ownerAllowFrom": ["telegram:1"]}
    assert released["channels"] == {"of-a-plugin": {"anything": True}}
    again = document_import(environment, json.dumps(released), by=None)
    assert not [each for each in again.diagnostics if each.code == "not_of_release"]


def test_the_command_names_what_it_leaves_out_and_keeps_it_on_request(environment: Any, tmp_path: Path) -> None:
    document_import(environment, json.dumps(OLD), by=None)
    out, err, whole = StringIO(), StringIO(), StringIO()

    call_command("policy", "export", stdout=out, stderr=err)
    call_command("policy", "export", "--keep-unread", stdout=whole)

    assert "memorySearch" not in out.getvalue()
    assert {line.split()[2] for line in err.getvalue().splitlines()} == REFUSED
    assert json.loads(whole.getvalue()) == OLD


def test_a_default_marker_becomes_what_the_release_makes_of_it(environment: Any) -> None:
    assert exported(environment, SEVERAL) == {
        "agents": {
            "ownership": "explicit",
            "entries": {"main": {}, "research": {}},
            "defaults": {"heartbeat": {"agentId": "main"}, "systemAgent": {"agentId": "main"}},
        },
        "talk": {"agentId": "main"},
    }


def test_what_names_another_agent_already_stays_and_channels_keep_their_way(environment: Any) -> None:
    found = exported(
        environment,
        {
            "agents": {
                "defaults": {"heartbeat": {"every": "1h"}, "systemAgent": {"agentId": "ops"}},
                "list": [{"id": "ops"}, {"id": "home", "default": True}],
            },
            "talk": {"agentId": "ops"},
            "channels": {"telegram": {}, "discord": {"enabled": False}, "slack": {}, "defaults": {}},
            "bindings": [{"agentId": "ops", "match": {"channel": "slack", "accountId": "*"}}],
        },
    )
    assert found["agents"]["defaults"] == {
        "heartbeat": {"every": "1h"},
        "systemAgent": {"agentId": "ops"},
        "authInheritance": {"agentId": "home"},
    }
    assert found["talk"] == {"agentId": "ops"}
    assert found["bindings"] == [
        {"agentId": "ops", "match": {"channel": "slack", "accountId": "*"}},
        {"agentId": "home", "match": {"channel": "telegram", "accountId": "*"}},
    ]


@pytest.mark.parametrize("agents", [[{"id": "main", "default": True}], []])
def test_one_agent_alone_needs_no_default(environment: Any, agents: Any) -> None:
    found = exported(environment, {"agents": {"list": agents}})
    assert "talk" not in found and "defaults" not in found["agents"]


def test_the_older_release_keeps_its_marker(environment: Any) -> None:
    environment.dialect = "2026.2"
    environment.save(update_fields=["dialect"])
    assert exported(environment, SEVERAL) == SEVERAL


def test_a_server_without_a_source_is_named_until_it_has_one(environment: Any, admin: Any) -> None:
    servers = {"robot": {"url": "http://127.0.0.1:9/mcp"}, "off": {"command": "x", "enabled": False}}
    document = json.dumps({"agents": {"entries": {"main": {}}}, "mcp": {"servers": servers}})

    def told() -> list[str]:
        report = document_import(environment, document, by=None)
        return [each.path for each in report.diagnostics if each.code == "server_unknown"]

    assert told() == ["mcp.servers.robot"]
    source_create(environment, key="robot", kind="mcp_http", settings={"url": "https://robot.example/mcp"}, by=admin)
    assert told() == []
