"""The list of tools: who sees it, what its filters find, its pages, its figures."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.console.tools import NOBODY
from apps.firewall.tools.definition import Definition
from apps.policies.selectors import live_snapshot
from apps.registry.models import Tool
from apps.registry.services import plugin_save, tool_set_state, tools_import

ClientOf = Callable[..., Client]


def names(answer: Any) -> list[str]:
    return [row.record.name for row in answer.context["rows"]]


@pytest.fixture
def plugin(published: Any, admin: Any) -> Any:
    made = plugin_save(published, key="maps", name="Maps", by=admin)
    definitions = [Definition(name=f"map_{n:03d}", description="Draws a map.") for n in range(70)]
    tools_import(published, definitions, source="plugin", plugin=made, by=admin)
    return made


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_it(name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest) -> None:
    answer = client_of(request.getfixturevalue(name)).get("/tools/")
    assert answer.status_code == 200
    assert "exec" in names(answer)


def test_an_outsider_and_a_stranger_do_not(client_of: ClientOf, published: Any, outsider: Any) -> None:
    assert client_of(outsider).get("/tools/").status_code == 403
    assert client_of().get("/tools/").status_code == 302


def test_a_page_holds_fifty_and_the_next_one_goes_on(client_of: ClientOf, plugin: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    first = browser.get("/tools/?plugin=maps")
    second = browser.get("/tools/", {"plugin": "maps", "after": first.context["page"].after})
    back = browser.get("/tools/", {"plugin": "maps", "before": second.context["page"].before})
    assert names(first) + names(second) == [f"map_{n:03d}" for n in range(70)]
    assert names(back) == names(first)
    assert (second.context["page"].after, back.context["page"].before) == ("", "")


@pytest.mark.parametrize("cursor", ["nonsense", "-1~exec", "9" * 30 + "~x"])
def test_a_cursor_that_cannot_be_read_is_the_beginning(
    cursor: str, client_of: ClientOf, published: Any, viewer: Any
) -> None:
    browser = client_of(viewer)
    assert names(browser.get("/tools/", {"after": cursor})) == names(browser.get("/tools/"))


def test_filters_narrow_it_together(client_of: ClientOf, plugin: Any, viewer: Any, admin: Any) -> None:
    browser = client_of(viewer)
    tool_set_state(Tool.objects.get(name="map_003"), state="disabled", reason="slow", by=admin)
    assert names(browser.get("/tools/?state=disabled")) == ["map_003"]
    assert names(browser.get("/tools/?source=plugin&q=MAP_06")) == [f"map_{n:03d}" for n in range(60, 70)]
    assert names(browser.get("/tools/?section=web")) == ["web_search", "web_fetch", "x_search"]
    assert names(browser.get("/tools/?q=%25")) == []
    none = browser.get("/tools/?q=zzz&state=active")
    assert "No tools match" in none.content.decode()
    assert [chip.value for chip in none.context["chips"]] == ["zzz", "Active"]


def test_what_is_gone_is_found_by_its_state_only(client_of: ClientOf, plugin: Any, viewer: Any, admin: Any) -> None:
    tool_set_state(Tool.objects.get(name="map_003"), state="unregistered", by=admin)
    browser = client_of(viewer)
    assert names(browser.get("/tools/?q=map_003")) == []
    assert names(browser.get("/tools/?q=map_003&state=unregistered")) == ["map_003"]


def test_who_can_use_it_is_what_the_live_snapshot_says(client_of: ClientOf, published: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    of_runner = names(browser.get("/tools/?who=ops-runner"))
    assert "exec" in of_runner
    assert "browser" not in of_runner  # the agent's own list denies it
    assert "exec" not in names(browser.get(f"/tools/?who={NOBODY}"))
    assert names(browser.get("/tools/?who=stranger")) == []
    row = next(row for row in browser.get("/tools/?q=gateway").context["rows"] if row.record.name == "gateway")
    live = live_snapshot(published)
    assert live is not None
    assert row.agents == len(browser.get("/tools/").context["reach"].agents_with("gateway"))


def test_figures_are_for_those_who_may_read_calls(
    client_of: ClientOf, published: Any, viewer: Any, auditor: Any, called: Callable[..., Any]
) -> None:
    called(tool="x_search")  # the ledger keeps what other tests called; nobody else calls this one
    row = client_of(auditor).get("/tools/?q=x_search").context["rows"][0]
    assert (row.record.name, row.figures.calls, row.figures.p95_ms) == ("x_search", 1, 31)
    assert client_of(viewer).get("/tools/?q=x_search").context["rows"][0].figures is None


def test_a_filter_answers_with_its_part_and_a_clean_address(client_of: ClientOf, published: Any, viewer: Any) -> None:
    answer = client_of(viewer).get("/tools/?q=exec&state=&plugin=", headers={"hx-request": "true"})
    assert answer["HX-Push-Url"] == "/tools/?q=exec"
    assert "<html" not in answer.content.decode()


def test_before_the_first_publication_nobody_has_anything(client_of: ClientOf, environment: Any, viewer: Any) -> None:
    answer = client_of(viewer).get("/tools/")
    assert "nothing is live yet" in answer.content.decode()
    assert {row.agents for row in answer.context["rows"]} == {None}


def test_a_hostile_description_is_escaped(client_of: ClientOf, plugin: Any, viewer: Any) -> None:
    Tool.objects.filter(name="map_000").update(description="<script>x</script>\u202e")
    text = client_of(viewer).get("/tools/?q=map_000").content.decode()
    assert "<script>x" not in text
    assert "U+202E" in text


def test_more_tools_cost_no_more_queries(
    client_of: ClientOf, plugin: Any, auditor: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(auditor)
    browser.get("/tools/")
    with django_assert_max_num_queries(16):
        assert browser.get("/tools/?source=plugin").status_code == 200
