"""What an admin withdraws is refused at once, without a publication; what is deprecated says so in each answer."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from apps.audit.models import Entry
from apps.registry import services
from apps.registry.models import Environment, Plugin, Tool
from tests.gateway.conftest import call
from tests.gateway.server import Server
from tests.gateway.test_decisions import Token, eventually
from tests.gateway.test_publications import published, publishing  # noqa: F401 - a fixture


@pytest.fixture
def bot(publishing: Server, environment: Environment, token: Token) -> Iterator[httpx.Client]:  # noqa: F811
    """An agent that may use every tool of a publication."""
    with publishing.client(token("calls_make", "decisions_ask")[1]) as client:
        published(environment, '{"agents": {"entries": {"bot": {}}}}')
        assert eventually(lambda: decided(client, "exec")["allowed"])
        yield client


def decided(client: httpx.Client, tool: str) -> Any:
    return client.post("/api/v1/decisions", json={"agent": "bot", "tool": tool}).json()


def moved(environment: Environment, name: str, state: str, **more: Any) -> None:
    services.tool_set_state(Tool.objects.get(environment=environment, name=name), state=state, **more)


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("disabled", "tool_disabled"),
        ("quarantined", "tool_quarantined"),
        ("unregistered", "tool_unregistered"),
    ],
)
def test_a_withdrawn_tool_is_refused_at_once_and_on_record(
    bot: httpx.Client, environment: Environment, state: str, code: str
) -> None:
    moved(environment, "write", state)
    assert eventually(lambda: decided(bot, "write")["reason"] == code)
    answer = call(bot, "write", {"path": "a.txt", "content": "x"}).json()
    assert (answer["status"], answer["error"]["code"]) == ("denied", code)
    assert Entry.objects.filter(kind="denial", tool="write", decision_layer="tool_state").count() == 1


def test_what_is_switched_on_again_runs_again(bot: httpx.Client, environment: Environment, admin: Any) -> None:
    moved(environment, "write", "disabled")
    assert eventually(lambda: not decided(bot, "write")["allowed"])
    moved(environment, "write", "active", by=admin)
    assert eventually(lambda: decided(bot, "write")["allowed"])
    assert call(bot, "write", {"path": "a.txt", "content": "x"}).json()["status"] == "completed"


def test_each_answer_of_a_deprecated_tool_names_its_successor(bot: httpx.Client, environment: Environment) -> None:
    moved(environment, "write", "deprecated", successor="exec")
    assert eventually(lambda: "warnings" in decided(bot, "write"))
    answer = call(bot, "write", {"path": "a.txt", "content": "x"}).json()
    warning = {"path": "", "code": "tool_deprecated", "message": "the tool `write` is deprecated: use `exec` instead"}
    assert answer["status"] == "completed"
    assert warning in answer["warnings"]
    assert warning in bot.get(f"/api/v1/calls/{answer['id']}").json()["warnings"]


def test_a_tool_outside_the_agents_set_stays_one_that_does_not_exist(
    bot: httpx.Client, environment: Environment
) -> None:
    second = published(environment, '{"agents": {"entries": {"bot": {"tools": {"deny": ["write"]}}}}}')
    assert eventually(lambda: decided(bot, "write")["snapshot"] == second.snapshot_id)
    moved(environment, "write", "disabled")
    assert eventually(lambda: decided(bot, "write")["reason"] == "not_offered")
    answer = call(bot, "write", {"path": "a.txt", "content": "x"})
    assert (answer.status_code, answer.json()["code"]) == (404, "tool_not_found")


def test_the_tools_of_a_plugin_that_is_switched_off_are_refused(bot: httpx.Client, environment: Environment) -> None:
    from apps.firewall.tools.definition import Definition

    plugin = services.plugin_save(environment, key="lamps")
    services.tools_import(environment, [Definition(name="lamp_set")], source="plugin", plugin=plugin)
    published(environment, '{"agents": {"entries": {"bot": {}}}}')
    assert eventually(lambda: decided(bot, "lamp_set")["allowed"])
    services.plugin_set_enabled(Plugin.objects.get(key="lamps"), is_enabled=False)
    assert eventually(lambda: decided(bot, "lamp_set")["reason"] == "plugin_disabled")
