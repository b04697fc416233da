"""A search that a person tries: what an agent's model would find now, and never more."""

from pathlib import Path
from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.source import ToolEntry
from apps.gateway.tool_runs.trying import search_try
from apps.registry.models import Tool
from apps.registry.services.tools import tool_set_state
from apps.runs.models import RunSearch
from tests.gateway.catalogues import plugin_tools, snapshot_of, tool_entry

pytestmark = pytest.mark.django_db
BOT = CallContext(agent_id="bot")


def found(environment: Any, snapshot: Snapshot, query: str, context: CallContext = BOT) -> list[str]:
    return [each.hit.descriptor.name for each in search_try(environment, snapshot, context, query).found]


def test_a_query_in_chinese_finds_a_tool_described_in_chinese(environment: Any, tmp_path: Path) -> None:
    tools = [*plugin_tools(str(tmp_path), 30), tool_entry("waybill", str(tmp_path), "按运单号查询货物的位置。")]
    snapshot = snapshot_of(tools)

    trial = search_try(environment, snapshot, BOT, "查询运单")

    (first,) = trial.found
    assert (first.hit.descriptor.name, first.hit.rank) == ("waybill", 1)
    assert first.hit.score > 0 and "name: string" in first.signature
    assert not RunSearch.objects.exists()


def test_the_limits_of_what_is_live_hold(environment: Any, tmp_path: Path) -> None:
    tools = plugin_tools(str(tmp_path), 60)

    assert len(found(environment, snapshot_of(tools), "invoice ticket server report")) == 8
    few = snapshot_of(tools, search={"mode": "tools", "searchDefaultLimit": 3})
    assert len(found(environment, few, "invoice ticket server report")) == 3


def test_what_was_withdrawn_since_is_not_found(environment: Any, admin: Any, tmp_path: Path) -> None:
    snapshot = snapshot_of(plugin_tools(str(tmp_path), 6))
    before = found(environment, snapshot, "exec")
    tool_set_state(Tool.objects.get(environment=environment, name="exec"), state="disabled", by=admin)

    assert before[0] == "exec"
    assert "exec" not in found(environment, snapshot, "exec")


@pytest.mark.parametrize(("first", "step"), [(0, 1), (0, 2), (1, 2), (2, 3), (5, 7)])
def test_nothing_is_found_that_policy_forbids(environment: Any, tmp_path: Path, first: int, step: int) -> None:
    tools = plugin_tools(str(tmp_path), 40)
    denied = [each.name for each in tools[first::step]]
    snapshot = snapshot_of(tools, deny=denied)
    allowed = set(allowed_tools(snapshot, BOT))

    assert not allowed & set(denied)
    for query in (*denied, "create an invoice", "list every report", "plugin:crm:" + denied[0]):
        assert set(found(environment, snapshot, query)) <= allowed


def test_what_nothing_here_runs_is_not_found(environment: Any) -> None:
    snapshot = snapshot_of([ToolEntry("elsewhere", plugin="crm", description="Runs at a gateway.", source="plugin")])

    assert "elsewhere" not in found(environment, snapshot, "elsewhere")
