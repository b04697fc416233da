"""Wherever a tool's name is shown for a context, it leads to the trace of that context."""

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from apps.console.blast import Narrowing, Place, Row
from apps.console.situations import nearest_situation, situation_of
from apps.console.why import situation_of_row, why_url
from apps.firewall.engine.context import CallContext
from apps.firewall.identifiers import show_id
from apps.policies.models import Agent, Profile
from apps.policies.services import document_import, profile_create, record_update
from tests.console.conftest import DOCUMENT

ClientOf = Callable[..., Client]


def traces(text: str, tool: str) -> list[dict[str, str]]:
    """Read the situations of all links to traces of a tool."""
    found = []
    for href in re.findall(r'href="(/explorer/\?[^"]*#trace)"', text):
        query = {name: values[0] for name, values in parse_qs(urlsplit(unescape(href)).query).items()}
        if query.pop("tool", "") == tool:
            found.append(query)
    return found


def page(browser: Client, url: str) -> str:
    answer = browser.get(url)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_the_funnel_of_an_agent_leads_there_from_what_is_left_and_what_is_removed(
    client_of: ClientOf, published: Any, viewer: Any
) -> None:
    text = page(client_of(viewer), "/agents/ops-runner/")
    assert {"agent": "ops-runner", "at": "draft"} in traces(text, "exec")
    assert {"agent": "ops-runner", "at": "draft"} in traces(text, "browser")


def test_so_does_what_the_live_policy_removes_and_the_draft_does_not(
    client_of: ClientOf, published: Any, admin: Any
) -> None:
    agent = Agent.objects.get(key="main")
    record_update(agent, {"deny": []}, by=admin, expected_version=agent.version)
    text = page(client_of(admin), "/agents/main/")
    assert {"agent": "main"} in traces(text, "gateway")


def test_a_cell_of_the_matrix_leads_there(client_of: ClientOf, published: Any, viewer: Any) -> None:
    text = page(client_of(viewer), "/explorer/?view=matrix&agent=ops-runner&tool=browser")
    assert {"agent": "ops-runner", "at": "live"} in traces(text, "browser")


def test_a_recorded_call_leads_there_in_its_own_context(
    client_of: ClientOf, published: Any, called: Callable[..., Any], auditor: Any
) -> None:
    call = called(agent="ops-runner", tool="exec", session_key="agent:ops-runner:telegram:group:-100", sender="1001")
    text = page(client_of(auditor), f"/audit/calls/{show_id('call', call)}/")
    assert traces(text, "exec") == [{"agent": "ops-runner", "channel": "telegram", "group": "-100", "sender": "1001"}]


def test_a_request_for_approval_leads_there(
    client_of: ClientOf, published: Any, ask: Callable[..., Any], operator: Any
) -> None:
    ask()
    text = page(client_of(operator), "/approvals/")
    assert traces(text, "exec")[0] | {"sender": ""} == {"agent": "ops-runner", "channel": "telegram", "sender": ""}


def test_the_lines_of_a_blast_radius_lead_there(client_of: ClientOf, published: Any, admin: Any) -> None:
    agent = Agent.objects.get(key="main")
    record_update(agent, {"deny": ["gateway", "exec"]}, by=admin, expected_version=agent.version)
    text = page(client_of(admin), "/publish/blast/")
    assert traces(text, "exec")[0].items() >= {"agent": "main", "at": "draft"}.items()


def test_the_page_of_a_tool_leads_there_for_each_agent(client_of: ClientOf, published: Any, viewer: Any) -> None:
    assert {"agent": "ops-runner"} in traces(page(client_of(viewer), "/tools/browser/"), "browser")


def test_what_passes_a_profile_leads_there_for_an_agent_that_takes_it(
    client_of: ClientOf, published: Any, admin: Any
) -> None:
    profile_create(published, "narrow", by=admin, allow=["read"])
    assert Profile.objects.count() == 1
    browser = client_of(admin)
    assert traces(page(browser, "/profiles/narrow/"), "read") == []
    agent = Agent.objects.get(key="main")
    record_update(agent, {"profile": "narrow"}, by=admin, expected_version=agent.version)
    assert traces(page(browser, "/profiles/narrow/"), "read") == [{"agent": "main", "at": "draft"}]


def test_a_link_carries_what_the_line_is_limited_to() -> None:
    row = Row(
        agents=("*", "bot"),
        gained=("exec",),
        lost=(),
        contexts=3,
        places=(Place("slack", False, ("work / C1",)),),
        models=Narrowing(False, ("openai/gpt-5",)),
        senders=Narrowing(True, ("7",)),
        owners="other",
        sandbox="inside",
        depth="sub",
    )
    url = why_url("exec", situation_of_row(row), at="draft")
    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    assert asked == {
        "agent": "bot",
        "model": "openai/gpt-5",
        "channel": "slack",
        "group": "work/C1",
        "owner": "no",
        "sandbox": "on",
        "depth": "1",
        "at": "draft",
        "tool": "exec",
    }


@pytest.mark.parametrize(
    "context",
    [
        CallContext(agent_id="bot", channel="telegram", sender_id="7"),
        CallContext(agent_id="bot", session_key="agent:bot:telegram:group:-100", channel="telegram", sender_e164="+49"),
        CallContext(agent_id="bot", session_key="agent:bot:main", sender_name="Ann", runtime_tools=("read",)),
    ],
)
def test_the_nearest_situation_keeps_agent_and_place(context: CallContext) -> None:
    exact, nearest = situation_of(context), nearest_situation(context)
    assert exact is None or exact == nearest
    assert (nearest.agent, nearest.channel) == ("bot", context.channel or "")
    assert nearest.sender


def test_hostile_names_are_quoted_in_a_link(client_of: ClientOf, environment: Any, admin: Any) -> None:
    document = json.loads(json.dumps(DOCUMENT))
    document["agents"]["entries"] = {'a"&b': {"tools": {"deny": ["exec"]}}}
    document_import(environment, json.dumps(document), by=admin)
    text = page(client_of(admin), "/explorer/?at=draft&tool=exec")
    assert 'agent=a"&b' not in text
