"""Params made ready on the way from an agent's socket to the tool and to the record."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.audit.filters import EntryFilters
from apps.audit.selectors import call_record, entries
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.identifiers import read_id
from apps.firewall.tools.catalog import BUILTINS
from tests.gateway.conftest import call
from tests.gateway.server import Holder, Server
from tests.gateway.test_decisions import reload

SECRET = "correct horse battery"


@pytest.fixture
def secretive(server: Server, holder: Holder) -> None:
    """Publish `write` with a content that nobody may see."""
    schema = BUILTINS["write"].definition.parameters
    properties = {**schema["properties"], "content": {**schema["properties"]["content"], "sensitive": True}}
    tools = [ToolEntry("write", params={**schema, "properties": properties})]
    holder.snapshot = build_snapshot(SnapshotSource(environment="production", tools=tools, agents=[AgentSource("bot")]))
    reload(server)


def test_a_wrong_type_is_coerced_and_what_is_unknown_is_told(agent: httpx.Client) -> None:
    call(agent, "write", {"path": "a.txt", "content": "one\ntwo\n"})

    body = call(agent, "read", {"path": "a.txt", "offset": "2", "colour": "red"}).json()

    assert (body["status"], body["result"]["content"]) == ("completed", "two\n")
    assert [(each["path"], each["code"]) for each in body["warnings"]] == [("colour", "unknown_field")]
    record = call_record(read_id("call", body["id"]))
    assert record is not None
    assert record.params == {"path": "a.txt", "offset": 2}


def test_a_sensitive_param_reaches_the_tool_in_clear_and_no_record(
    secretive: None, agent: httpx.Client, settings: Any
) -> None:
    body = call(agent, "write", {"path": "a.txt", "content": SECRET}).json()

    assert body["status"] == "completed"
    assert (Path(settings.VAR_DIR) / "workspaces/production/bot/a.txt").read_text() == SECRET
    assert SECRET not in str(call_record(read_id("call", body["id"])))


def test_a_sensitive_param_of_a_refused_call_is_in_no_record_either(secretive: None, agent: httpx.Client) -> None:
    answer = call(agent, "write", {"content": SECRET})

    (detail,) = answer.json()["details"]
    assert (answer.status_code, detail["path"]) == (422, "path")
    (denial,) = entries(EntryFilters(kind=("denial",))).rows
    assert denial.params["content"].startswith("[masked ")
    assert SECRET not in str(denial)
