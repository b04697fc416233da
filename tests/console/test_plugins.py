"""Plugins: the list, one plugin, and the switch that takes its tools from everybody at once."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.firewall.tools.definition import Definition
from apps.policies.models import Agent
from apps.policies.services import record_update
from apps.registry.models import Plugin
from apps.registry.services import plugin_save, tools_import

ClientOf = Callable[..., Client]


@pytest.fixture
def plugin(published: Any, admin: Any) -> Plugin:
    made = plugin_save(published, key="maps", name="Maps", by=admin)
    tools_import(published, [Definition(name="map_draw")], source="plugin", plugin=made, by=admin)
    return made


def test_the_list_counts_their_tools(client_of: ClientOf, plugin: Plugin, viewer: Any) -> None:
    (row,) = client_of(viewer).get("/plugins/").context["rows"]
    assert (row.key, row.tool_count, row.offered_count) == ("maps", 1, 1)


def test_without_plugins_it_says_so(client_of: ClientOf, environment: Any, viewer: Any) -> None:
    assert "No plugins yet" in client_of(viewer).get("/plugins/").content.decode()


def test_its_page_names_its_tools_and_who_names_it(
    client_of: ClientOf, plugin: Plugin, published: Any, admin: Any, viewer: Any
) -> None:
    record_update(Agent.objects.get(key="main"), {"also_allow": ["Maps"]}, by=admin, expected_version=1)
    answer = client_of(viewer).get("/plugins/MAPS/")
    assert [each.record.name for each in answer.context["tools"]] == ["map_draw"]
    (reference,) = answer.context["references"]
    assert (reference.place, reference.field) == ("agents.entries.main", "also allow")
    assert client_of(viewer).get(reference.url).headers["Location"] == "/agents/main/"


def test_an_admin_switches_it_off_and_on(client_of: ClientOf, plugin: Plugin, admin: Any) -> None:
    browser = client_of(admin)
    assert "refused at once" in browser.get("/plugin/enabled/maps/").content.decode()
    assert browser.post("/plugin/enabled/maps/", {"enabled": "no", "version": "1"}).status_code == 302
    assert not Plugin.objects.get(key="maps").is_enabled
    assert browser.post("/plugin/enabled/maps/", {"enabled": "yes", "version": "1"}).status_code == 409
    assert browser.post("/plugin/enabled/maps/", {"enabled": "yes", "version": "2"}).status_code == 302
    assert Plugin.objects.get(key="maps").is_enabled


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_does(name: str, client_of: ClientOf, plugin: Plugin, request: pytest.FixtureRequest) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert browser.post("/plugin/enabled/maps/", {"enabled": "no"}).status_code == 403
    assert Plugin.objects.get(key="maps").is_enabled


def test_more_plugins_cost_no_more_queries(
    client_of: ClientOf, plugin: Plugin, published: Any, admin: Any, viewer: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(viewer)
    for number in range(8):
        plugin_save(published, key=f"extra-{number}", by=admin)
    browser.get("/plugins/")
    with django_assert_max_num_queries(10):
        assert browser.get("/plugins/").status_code == 200
