"""The explorer: situations in the URL, verdicts, comparison, matrix, export."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.console import matrix
from apps.console.situations import Situation, group_value, known_classes, read_sender
from apps.firewall.engine.contexts import Conversation
from apps.firewall.engine.decide import explain
from apps.policies.models import Agent
from apps.policies.selectors import draft_change_count, live_snapshot
from apps.policies.services import record_update

HTMX = {"HX-Request": "true"}
ClientOf = Callable[..., Client]
PAGE = "/explorer/"


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_explores(name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest) -> None:
    assert client_of(request.getfixturevalue(name)).get(PAGE).status_code == 200


def test_an_outsider_does_not_and_nothing_is_posted(
    client_of: ClientOf, published: Any, outsider: Any, admin: Any
) -> None:
    assert client_of(outsider).get(PAGE).status_code == 403
    assert client_of(outsider).get("/explorer/export/").status_code == 403
    assert client_of(admin).post(PAGE).status_code == 405
    assert draft_change_count(published) == 0


def test_without_a_publication_it_offers_the_draft(client_of: ClientOf, draft: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    text = browser.get(PAGE).content.decode()
    assert "Nothing is live yet" in text
    assert "/explorer/?at=draft" in text
    assert browser.get(PAGE, {"at": "draft"}).context["total"] > 10


@pytest.mark.parametrize("path", [PAGE, "/explorer/result/"])
def test_htmx_gets_the_fragment_and_the_clean_url(path: str, client_of: ClientOf, published: Any, viewer: Any) -> None:
    answer = client_of(viewer).get(path, {"agent": "main", "model": "", "sender": "", "sandbox": ""}, headers=HTMX)
    assert "<html" not in answer.content.decode()
    assert answer["HX-Push-Url"] == "/explorer/?agent=main"


def test_the_verdicts_are_the_engines(client_of: ClientOf, published: Any, viewer: Any) -> None:
    asked = {"agent": "ops-runner", "channel": "telegram", "group": "-100", "model": "openai/gpt-5"}
    answer = client_of(viewer).get(PAGE, asked).context["answers"][0]
    snapshot = live_snapshot(published)
    assert snapshot is not None
    said = explain(snapshot, Situation.read(asked).context())
    denied = {tool for tool, verdict in answer.verdicts.items() if verdict.kind == "deny"}
    assert denied == set(snapshot.tool_names) - set(said.allowed)
    for layer in said.layers:
        for removal in layer.removed:
            verdict = answer.verdicts[removal.tool]
            assert (verdict.number, verdict.rule) == (layer.number, removal.rule)


def test_exec_asks_where_its_settings_ask(client_of: ClientOf, published: Any, viewer: Any, admin: Any) -> None:
    answer = client_of(viewer).get(PAGE, {"agent": "ops-runner"}).context["answers"][0]
    assert answer.verdicts["exec"].kind == "ask"
    assert answer.asking == 1


def test_exec_is_denied_where_its_settings_deny(client_of: ClientOf, published: Any, viewer: Any, admin: Any) -> None:
    from apps.policies.models import ExecSettings

    record_update(ExecSettings.objects.get(), {"mode": "deny"}, by=admin, expected_version=1)
    answer = client_of(viewer).get(PAGE, {"agent": "ops-runner", "at": "draft", "tool": "exec"})
    assert answer.context["answers"][0].verdicts["exec"].kind == "deny"
    assert "no command runs" in answer.content.decode()


def test_two_situations_are_compared(client_of: ClientOf, published: Any, viewer: Any) -> None:
    asked = {
        "agent": "ops-runner",
        "compare": "on",
        "b_agent": "ops-runner",
        "b_channel": "telegram",
        "b_group": "-100",
    }
    browser = client_of(viewer)
    context = browser.get(PAGE, asked).context
    differing = [row.tool for section in context["sections"] for row in section.rows if row.differs]
    assert "exec" in differing
    assert context["differences"] == len(differing)
    only = browser.get(PAGE, asked | {"only": "on"}).context
    assert [row.tool for section in only["sections"] for row in section.rows] == differing


def test_live_and_draft_are_two_answers(client_of: ClientOf, published: Any, viewer: Any, admin: Any) -> None:
    record_update(Agent.objects.get(key="main"), {"deny": ["read"]}, by=admin, expected_version=1)
    browser = client_of(viewer)
    kinds = [
        browser.get(PAGE, {"agent": "main", "at": at}).context["answers"][0].verdicts["read"].kind
        for at in ("live", "draft")
    ]
    assert kinds == ["allow", "deny"]


def test_a_situation_that_cannot_be_read_says_why(client_of: ClientOf, published: Any, viewer: Any) -> None:
    answer = client_of(viewer).get(PAGE, {"agent": "main", "depth": "many"})
    assert answer.status_code == 422
    assert "the depth is a whole number" in answer.content.decode()


def test_an_agent_that_is_not_configured_is_said_so(client_of: ClientOf, published: Any, viewer: Any) -> None:
    text = client_of(viewer).get(PAGE, {"agent": "ghost", "tool": "read"}).content.decode()
    assert "ghost, not configured" in text


def test_hostile_values_are_escaped(client_of: ClientOf, published: Any, viewer: Any) -> None:
    hostile = {"agent": "<q1>", "channel": "<q2>", "group": "<q3>", "sender": "a\u202eb<q4>", "tool": "<q5>"}
    text = client_of(viewer).get(PAGE, hostile).content.decode()
    assert "<q" not in text
    assert "U+202E" in text


def test_the_export_is_what_the_page_shows(client_of: ClientOf, published: Any, viewer: Any) -> None:
    answer = client_of(viewer).get("/explorer/export/", {"agent": "ops-runner", "tool": "browser"})
    shown = json.loads(answer.content)
    assert answer["Content-Disposition"].startswith("attachment")
    situation = shown["situations"][0]
    assert situation["context"]["agent_id"] == "ops-runner"
    assert situation["decision"]["rule"] == "agents.ops-runner.tools.profile coding"
    assert "read" in situation["allowed"]


def test_the_matrix_counts_places(client_of: ClientOf, published: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    context = browser.get(PAGE, {"view": "matrix", "agent": "ops-runner", "tool": "exec"}).context
    row = next(row for row in context["matrix"].rows if row.agent == "ops-runner")
    cell = next(cell for cell in row.cells if cell.tool == "exec")
    assert context["matrix"].places == 3  # outside channels, a direct chat, and the one group
    assert (cell.count, cell.asks) == (2, True)
    assert [(name, times) for _number, name, times, _url in context["cell"].deniers] == [("Group", 1)]
    assert "ops-runner, exec: 2 of 3 places, asks first" in browser.get(PAGE, {"view": "matrix"}).content.decode()


def test_the_matrix_shows_so_many_cells_and_leads_to_the_next(
    client_of: ClientOf, published: Any, viewer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix, "CELLS_SHOWN", 1)
    browser = client_of(viewer)
    first = browser.get(PAGE, {"view": "matrix"})
    assert [row.agent for row in first.context["matrix"].rows] == ["main"]
    second = browser.get(first.context["links"]["later"])
    assert [row.agent for row in second.context["matrix"].rows] == ["ops-runner"]
    assert (second.context["matrix"].first, second.context["links"]["later"]) == (2, "")
    assert browser.get(second.context["links"]["earlier"]).context["matrix"].first == 1
    assert browser.get(PAGE, {"view": "matrix", "start": "99"}).context["matrix"].first == 1


def test_a_page_asks_few_questions(
    client_of: ClientOf, published: Any, viewer: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(viewer)
    for asked in ({"agent": "main", "tool": "read"}, {"view": "matrix"}):
        browser.get(PAGE, asked)
        with django_assert_max_num_queries(14):
            assert browser.get(PAGE, asked).status_code == 200


def test_a_situation_survives_its_url() -> None:
    place = Conversation("discord", "work", "gu/ild", "ch an")
    situation = Situation(
        agent="a",
        model="p/m",
        channel="discord",
        group=group_value(place),
        sender="id:7",
        owner="no",
        sandbox=True,
        depth=2,
    )
    assert situation.conversation == place
    assert Situation.read(situation.query("b_"), prefix="b_") == situation
    assert Situation.read({"where": situation.where}).conversation == place


def test_senders_are_read_as_policies_write_them() -> None:
    assert str(read_sender("channel:telegram:7")) == "channel:telegram:7"
    assert str(read_sender("username:@dana")) == "username:@dana"
    assert str(read_sender("7")) == "id:7"


def test_every_named_place_can_be_picked(published: Any) -> None:
    snapshot = live_snapshot(published)
    assert snapshot is not None
    for place in known_classes(snapshot).conversations:
        situation = Situation(agent="main", channel=place.channel, group=group_value(place))
        assert situation.conversation == place


def test_a_trace_of_commands_names_the_setting_behind_each_word(
    client_of: ClientOf, published: Any, viewer: Any
) -> None:
    answer = client_of(viewer).get(PAGE, {"agent": "ops-runner", "tool": "exec"})
    text = answer.content.decode()
    assert "agents.entries.ops-runner.tools.exec.mode" in text
    words = {name: (value, source) for name, value, source in answer.context["traces"][0].words}
    assert words["When nobody answers"] == ("deny", "default")
    assert words["Host"] == ("gateway", "default")
    assert words["Elevated"][0] == "refused"
    assert client_of(viewer).get(PAGE, {"agent": "ops-runner", "tool": "read"}).context["traces"][0].words == []
