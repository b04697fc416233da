"""Runs with tool search through the door: what a model is offered, what it finds, and what it calls."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.audit.models import Entry
from apps.audit.selectors import call_record
from tests.gateway.catalogues import CODE, plugin_tools, snapshot_of
from tests.gateway.replies import REPLIES, told
from tests.gateway.server import Holder, Server
from tests.gateway.test_calls import kinds
from tests.gateway.test_decisions import reload

URL = "/api/v1/runs"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    made = tmp_path / "tools"
    made.mkdir()
    (made / "answering.py").write_text(CODE)
    return str(made)


@pytest.fixture
def holder(folder: str) -> Holder:
    return Holder(snapshot_of(plugin_tools(folder, 60)))


def begin(client: httpx.Client, **more: Any) -> dict[str, Any]:
    answered = client.post(URL, json={"agent": "bot", "provider": "acme", **more})
    assert answered.status_code == 201, answered.text
    body: dict[str, Any] = answered.json()
    return body


def test_a_run_is_searched_described_and_called(agent: httpx.Client) -> None:
    run = begin(agent)
    tools = f"{URL}/{run['id']}/tools"

    found = agent.post(f"{tools}/search", json={"query": "create an invoice", "limit": 3}).json()
    told = agent.post(f"{tools}/describe", json={"id": "plugin:crm:invoice_create"}).json()
    called = agent.post(f"{tools}/call", json={"id": "invoice_create", "args": {"name": "Crash"}}).json()

    assert found["status"] == "completed", found
    assert found["result"]["candidates"][0]["id"] == "plugin:crm:invoice_create"
    assert told["result"]["parameters"]["required"] == ["name"]
    assert called["status"] == "completed", called
    assert called["result"] == {"given": {"name": "Crash"}}
    assert kinds(called["id"]) == [("call_intent", "started"), ("call_outcome", "completed")]
    told = agent.get(f"{URL}/{run['id']}").json()
    assert told["counts"] == {"search": 1, "describe": 1, "code": 0, "call": 1}
    assert told["calls"][0] | {"id": ""} == {
        "id": "",
        "tool": "plugin:crm:invoice_create",
        "name": "invoice_create",
        "source": "plugin",
        "through": "tool_call",
        "rank": 1,
        "status": "completed",
    }


def turn(client: httpx.Client, run: dict[str, Any], calls: Any, *, form: str = "openai-chat", **more: Any) -> Any:
    answered = client.post(f"{URL}/{run['id']}/turns", json={"response": REPLIES[form](calls, "one"), **more})
    assert answered.status_code in {200, 202}, answered.text
    return answered.json()


def named(run: dict[str, Any], form: str = "openai-chat") -> list[str]:
    """Name what a model of the run is told of."""
    if form == "gemini":
        return [each["name"] for each in run["request"]["tools"][0]["functionDeclarations"]]
    tools = run["request"].get("tools", [])
    return [each["function"]["name"] if form == "openai-chat" else each["name"] for each in tools]


@pytest.mark.parametrize("form", REPLIES)
def test_a_model_of_any_form_finds_and_calls_what_it_does_not_see(agent: httpx.Client, form: str) -> None:
    run = begin(agent, form=form)

    searched = turn(agent, run, [("tool_search", {"query": "archive a ticket", "limit": 2})], form=form)
    called = turn(
        agent, run, [("tool_call", {"id": "ticket_archive", "args": {"name": "old"}})], form=form, idempotency="two"
    )

    assert named(run, form)[-3:] == ["tool_search", "tool_describe", "tool_call"]
    assert "ticket_archive" not in named(run, form)
    assert "plugin:crm:ticket_archive" in told(form, searched["messages"])[0]
    assert json.loads(told(form, called["messages"])[0]) == {"given": {"name": "old"}}
    assert called["calls"][0]["tool"] == "ticket_archive"


def test_a_hidden_tool_cannot_be_called_by_its_name_alone_in_the_mode_tools(agent: httpx.Client) -> None:
    run = begin(agent)

    hidden = turn(agent, run, [("ticket_archive", {"name": "x"})])
    unknown = turn(agent, run, [("launch_rocket", {"name": "x"})], idempotency="two")

    (one,), (other,) = told("openai-chat", hidden["messages"]), told("openai-chat", unknown["messages"])
    assert json.loads(one) == {"error": "tool_not_found", "message": "no tool named `ticket_archive`"}
    assert one.replace("ticket_archive", "launch_rocket") == other
    denied = Entry.objects.filter(kind="denial", tool="ticket_archive").get()
    assert denied.decision_layer == "tool_search"


def test_the_directory_names_what_it_hides_and_a_direct_call_of_it_runs(
    agent: httpx.Client, holder: Holder, folder: str, server: Server
) -> None:
    holder.snapshot = snapshot_of(plugin_tools(folder, 60), search={"mode": "directory"})
    reload(server)
    run = begin(agent, task="archive my old ticket", required=["invoice_list"])
    again = begin(agent, task="archive my old ticket", required=["invoice_list"])

    called = turn(agent, run, [("server_create", {"name": "web"})])

    assert run["mode"] == "directory" and run["why"] == "configured"
    assert "server_create" in run["directory"] and len(run["directory"]) <= 18_000
    assert run["directory"] == again["directory"] and run["request"] == again["request"]
    assert {"invoice_list", "ticket_archive"} <= set(named(run)) and "server_create" not in named(run)
    assert "ticket_archive" not in run["directory"]
    assert json.loads(told("openai-chat", called["messages"])[0]) == {"given": {"name": "web"}}
    assert agent.get(f"{URL}/{run['id']}").json()["calls"][0]["through"] == "hydrated"


def test_code_searches_and_calls_and_every_call_is_on_record(
    agent: httpx.Client, holder: Holder, folder: str, server: Server
) -> None:
    holder.snapshot = snapshot_of(plugin_tools(folder, 60), search=True)
    reload(server)
    run = begin(agent)
    code = """
        const hits = await openclaw.tools.search("create an invoice", {limit: 3});
        const tool = await openclaw.tools.describe(hits[0].id);
        const made = await openclaw.tools.call(tool.id, {name: "Crash"});
        try { await openclaw.tools.call("launch_rocket", {}); } catch (error) { console.log(error.code); }
        return [hits[0].name, made.result];
    """

    answered = agent.post(f"{URL}/{run['id']}/tools/code", json={"code": code}).json()

    assert run["mode"] == "code" and named(run)[-1] == "tool_search_code"
    assert answered["status"] == "completed", answered
    assert answered["result"]["value"] == ["invoice_create", {"given": {"name": "Crash"}}]
    assert answered["result"]["logs"] == [{"level": "log", "text": "tool_not_found"}]
    assert answered["result"]["telemetry"]["callCount"] == 2
    inner = Entry.objects.get(kind="call_intent", tool="invoice_create")
    entries = call_record(inner.call_id).entries  # type: ignore[union-attr, arg-type]
    assert entries[0].changes["tool_search"] == {
        "run": run["id"],
        "through": "code",
        "source": "plugin",
        "parent": answered["id"],
        "rank": 1,
    }
    assert kinds(answered["id"]) == [("call_intent", "started"), ("call_outcome", "completed")]


def test_a_small_catalogue_is_sent_as_it_is(agent: httpx.Client, holder: Holder, folder: str, server: Server) -> None:
    holder.snapshot = snapshot_of(plugin_tools(folder, 2))
    reload(server)

    run = begin(agent)

    assert (run["mode"], run["why"]) == ("direct", "small_catalogue")
    assert run["bytes"]["direct"] == run["bytes"]["offered"] > 0
    assert "invoice_create" in named(run) and "tool_search" not in named(run)


def test_the_older_release_searches_only_where_it_is_told_to(
    agent: httpx.Client, holder: Holder, folder: str, server: Server
) -> None:
    holder.snapshot = snapshot_of(plugin_tools(folder, 60), dialect="2026.2")
    reload(server)
    run = begin(agent)
    refused = agent.post(f"{URL}/{run['id']}/tools/search", json={"query": "invoice"})

    assert (run["mode"], run["why"]) == ("direct", "off")
    assert (refused.status_code, refused.json()["code"]) == (409, "tool_search_off")


CLIENT_TOOL = {
    "name": "ask_user",
    "description": "Ask the person in front of the screen something.",
    "parameters": {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]},
}


def test_a_tool_of_the_caller_is_found_handed_over_and_reported(agent: httpx.Client) -> None:
    run = begin(agent, tools=[CLIENT_TOOL])
    tools = f"{URL}/{run['id']}/tools"

    found = agent.post(f"{tools}/search", json={"query": "ask the person something"}).json()
    handed = agent.post(f"{tools}/call", json={"id": "client:ask_user", "args": {"question": "Really?"}})
    call_id = handed.json()["id"]
    reported = agent.post(f"{tools}/outcome", json={"call": call_id, "result": {"answer": "yes"}})
    ended = agent.get(f"/api/v1/calls/{call_id}?wait=20000").json()

    assert found["result"]["candidates"][0]["id"] == "client:ask_user"
    assert found["result"]["candidates"][0]["input"] == "unknown"
    assert handed.status_code == 202
    assert handed.json()["client_call"] == {"tool": "ask_user", "params": {"question": "Really?"}}
    assert reported.status_code == 200, reported.text
    assert (ended["status"], ended["result"]) == ("completed", {"answer": "yes"})
    assert kinds(call_id) == [("call_intent", "started"), ("call_outcome", "completed")]


def test_the_policy_speaks_about_the_callers_tools_too(
    agent: httpx.Client, holder: Holder, folder: str, server: Server
) -> None:
    holder.snapshot = snapshot_of(plugin_tools(folder, 60), deny=("ask_*", "exec"))
    reload(server)
    run = begin(agent, tools=[CLIENT_TOOL, {**CLIENT_TOOL, "name": "exec"}, {**CLIENT_TOOL, "name": "show_map"}])
    tools = f"{URL}/{run['id']}/tools"

    found = agent.post(f"{tools}/search", json={"query": "ask the person something", "limit": 20}).json()
    called = agent.post(f"{tools}/call", json={"id": "ask_user", "args": {"question": "x"}})
    collides = agent.post(URL, json={"agent": "bot", "provider": "acme", "tools": [{**CLIENT_TOOL, "name": "read"}]})

    assert [each["tool"] for each in run["left_out"]] == ["ask_user", "exec"]
    assert {each["code"] for each in run["left_out"]} == {"not_permitted"}
    assert "client:show_map" in str(found) and "ask_user" not in str(found) and "client:exec" not in str(found)
    assert (called.status_code, called.json()["code"]) == (404, "tool_not_found")
    assert collides.json()["details"][0]["code"] == "client_tool_collides"
