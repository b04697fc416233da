"""The demo goes through the same doors as anybody's document, and never over somebody's agents."""

from typing import Any

import pytest

from apps.accounts.errors import PermissionDeniedError
from apps.policies.errors import DraftNotEmptyError
from apps.policies.selectors import agents, channels, draft_snapshot, groups, lint
from apps.policies.services import agent_create, demo_import, publish
from apps.registry.selectors import plugin_find, tools_offered

pytestmark = pytest.mark.django_db


def test_the_demo_is_a_draft_with_every_tool_it_speaks_of(environment: Any, admin: Any) -> None:
    demo_import(environment, by=admin)
    offered = {tool.name: tool for tool in tools_offered(environment)}
    assert agents(environment).count() >= 6
    assert channels(environment).count() >= 3
    assert groups(environment).count() >= 40
    assert offered["tracker__lookup_shipment"].server_name == "tracker"
    assert offered["freight_book"].plugin == plugin_find(environment, "freight-board")
    assert {"github__list_issues", "sentry__list_issues", "pagerduty__create_incident", "docs__search"} <= set(offered)
    assert {"freight_book", "tracker__lookup_shipment"} <= set(draft_snapshot(environment).tool_names)


def test_the_demo_can_be_published_as_it_is(environment: Any) -> None:
    demo_import(environment, by=None)
    assert not [finding for finding in lint(environment) if finding.severity == "error"]
    assert publish(environment, by=None, message="demo", expected_live=None).number == 1


def test_every_tool_that_asks_for_a_permission_has_somebody_who_may_run_it(environment: Any) -> None:
    demo_import(environment, by=None)

    guards = ("permission", "grant", "limit_without")
    assert [finding for finding in lint(environment) if finding.code.startswith(guards)] == []
    assert len(draft_snapshot(environment).permissions.grants) == 6
    assert len(draft_snapshot(environment).content.filters) == 3


def test_its_secrets_are_sealed(environment: Any) -> None:
    report = demo_import(environment, by=None)
    sealed = {item.path for item in report.diagnostics if item.code == "secret_sealed"}
    assert "gateway.auth.token" in sealed
    assert not any("demo-gateway-token" in item.message for item in report.diagnostics)


def test_it_is_not_loaded_over_agents(environment: Any, admin: Any) -> None:
    agent_create(environment, "mine", by=admin)
    with pytest.raises(DraftNotEmptyError):
        demo_import(environment, by=admin)
    assert [agent.key for agent in agents(environment)] == ["mine"]
    assert plugin_find(environment, "freight-board") is None


def test_loading_it_again_after_a_failure_is_harmless(environment: Any) -> None:
    demo_import(environment, by=None)
    with pytest.raises(DraftNotEmptyError):
        demo_import(environment, by=None)
    assert tools_offered(environment).filter(name="freight_book").count() == 1


def test_who_may_not_change_policies_may_not_load_it(environment: Any, viewer: Any) -> None:
    with pytest.raises(PermissionDeniedError):
        demo_import(environment, by=viewer)
    assert not agents(environment).exists()
