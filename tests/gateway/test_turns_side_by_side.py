"""Calls of one turn whose tools meet: they can only end when they run side by side, or one after the other."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.audit.models import Entry
from apps.firewall.identifiers import show_id
from tests.gateway.conftest import leaves
from tests.gateway.test_decisions import eventually
from tests.gateway.test_publications import published, publishing  # noqa: F401 (a fixture)
from tests.gateway.test_python_tools import BOT, bot, looked, offered  # noqa: F401 (a fixture)
from tests.gateway.test_turns import body_of, turn

pytestmark = pytest.mark.unhurried

TOOLS = '''
import time
from pathlib import Path

from openclaw_admin.tools import ToolContext, tool


@tool(timeout=20)
def meet(me: str, other: str, context: ToolContext) -> dict:
    """Wait until the other is there."""
    place = Path(context.workspace)
    (place / f"here-{me}").touch()
    while not (place / f"here-{other}").exists():
        time.sleep(0.02)
    return {"met": other}


@tool(execution_mode="sequential")
def alone(me: str, context: ToolContext) -> dict:
    """Say whether anybody else is at it."""
    mark = Path(context.workspace) / "busy"
    mark.mkdir()
    time.sleep(0.2)
    mark.rmdir()
    return {"me": me}


@tool
def stumble() -> dict:
    """Fail."""
    raise RuntimeError("no")
'''


@pytest.fixture
def tools(environment: Any, bot: httpx.Client, tmp_path: Path) -> httpx.Client:  # noqa: F811
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "meeting_tool.py").write_text(TOOLS)
    run = looked(environment, "meeting", "folder", {"scan_directories": [str(folder)]})
    assert run.added == 3, run.findings
    published(environment, BOT)
    assert eventually(lambda: offered(bot, "stumble"))
    return bot


def test_a_caller_that_goes_away_ends_every_call_of_its_turn_that_runs(tools: httpx.Client) -> None:
    calls = [("meet", {"me": "a", "other": "c"}), ("meet", {"me": "b", "other": "c"}), ("alone", {"me": "never"})]

    running = Entry.objects.filter(kind="call_intent")
    leaves(tools, "/api/v1/turns", body_of(calls, on_disconnect="cancel"), once=lambda: running.count() == 2)

    assert eventually(lambda: Entry.objects.filter(kind="call_outcome").count() == 2)
    ended = list(Entry.objects.filter(kind="call_outcome"))
    assert [(each.tool, each.status) for each in ended] == [("meet", "cancelled")] * 2
    for each in ended:
        assert each.call_id is not None
        answer = tools.get(f"/api/v1/calls/{show_id('call', each.call_id)}").json()
        assert answer["error"]["code"] == "disconnected"
    assert not Entry.objects.filter(tool="alone").exists()


def test_parallel_calls_meet_sequential_ones_are_alone_and_a_failure_is_its_own(tools: httpx.Client) -> None:
    calls = [
        ("meet", {"me": "a", "other": "b"}),
        ("stumble", {}),
        ("meet", {"me": "b", "other": "a"}),
        ("alone", {"me": "first"}),
        ("alone", {"me": "second"}),
        ("launch_rocket", {}),
    ]

    body = turn(tools, calls).json()

    assert [each["call_id"] for each in body["calls"]] == [f"one_{place}" for place in range(6)]
    statuses = ["completed", "failed", "completed", "completed", "completed", "denied"]
    assert [each["status"] for each in body["calls"]] == statuses
    assert "second" in body["messages"][4]["content"]
