"""What a new environment holds: the core tools and groups of its release, as recorded."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from apps.firewall.tools.builtin.read import DEFINITION as READ
from apps.registry import selectors, services
from apps.registry.access import environment_access
from apps.registry.errors import EnvironmentUnknownError, RegistryError
from apps.registry.models import Environment, Tool, ToolState

pytestmark = pytest.mark.django_db
RECORDED = Path(__file__).parent.parent / "conformance" / "profiles.jsonl"


def recorded(what: str, release: str) -> Any:
    """A table of the recorded reference data."""
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["kind"] == "dump" and row["input"]["what"] == what:
            if release not in row.get("versions", [release]):
                continue
            return row.get("expect_2026_2", row["expect"]) if release == "2026.2" else row["expect"]
    raise LookupError(what)


@pytest.fixture(params=["2026.9", "2026.2"])
def filled(request: pytest.FixtureRequest) -> Environment:
    return services.environment_create(slug="staging", dialect=request.param)


def test_the_core_tools_are_those_of_the_release_in_its_order(filled: Environment) -> None:
    catalogue = recorded("core_tool_catalog", filled.dialect)
    tools = list(selectors.tools_of(filled))
    assert [(tool.name, tool.section) for tool in tools] == [(row["id"], row["section"]) for row in catalogue]
    assert {tool.state for tool in tools} == {"active"}


def test_the_groups_are_those_of_the_release(filled: Environment) -> None:
    groups = recorded("tool_groups", filled.dialect)
    assert {group.name: group.members for group in selectors.groups_of(filled)} == groups


def test_the_owners_tools_are_marked(filled: Environment) -> None:
    owned = set(recorded("owner_only_tools", filled.dialect))
    assert {tool.name for tool in selectors.tools_of(filled) if tool.owner_only} == owned & {
        tool.name for tool in selectors.tools_of(filled)
    }


def test_the_tools_that_ship_here_have_their_schema(environment: Environment) -> None:
    schemas = selectors.params_schemas(environment)
    assert schemas["read"] == READ.parameters
    assert schemas["write"]["required"] == ["path", "content"]
    assert schemas["web_search"] == {"type": "object", "additionalProperties": True}


def test_a_tool_has_the_schema_of_the_release(filled: Environment) -> None:
    names = {"2026.9": ["edits", "path"], "2026.2": ["newText", "oldText", "path"]}
    assert sorted(selectors.params_schemas(filled)["edit"]["properties"]) == names[filled.dialect]


def test_filling_again_changes_nothing(environment: Environment) -> None:
    assert services.registry_fill(environment) == 0


def test_filling_again_keeps_what_people_set(environment: Environment, admin: Any) -> None:
    tool = Tool.objects.get(environment=environment, name="exec")
    services.tool_set_state(tool, state="disabled", reason="not here", by=admin)
    services.registry_fill(environment)
    tool.refresh_from_db()
    assert (tool.state, tool.state_reason) == ("disabled", "not here")


def test_another_release_brings_its_own_tools(environment: Environment) -> None:
    services.environment_set_dialect(environment, dialect="2026.2")
    catalogue = recorded("core_tool_catalog", "2026.2")
    environment.refresh_from_db()
    assert [tool.name for tool in selectors.tools_of(environment)] == [row["id"] for row in catalogue]
    services.environment_set_dialect(environment, dialect="2026.9")
    catalogue = recorded("core_tool_catalog", "2026.9")
    assert [tool.name for tool in selectors.tools_offered(environment)] == [row["id"] for row in catalogue]


def test_the_default_environment_is_made_once() -> None:
    first = services.environment_default()
    assert (first.slug, first.dialect) == ("production", "2026.9")
    assert services.environment_default() == first
    assert Environment.objects.count() == 1


def test_a_second_environment_comes_after_the_first(environment: Environment, admin: Any) -> None:
    staging = services.environment_create(slug="staging", by=admin)
    assert list(selectors.environments()) == [environment, staging]
    assert selectors.environment_find("staging") == staging


@pytest.mark.parametrize("slug", ["production", "", "Has Space", "-x", "x" * 64, "prod\n"])
def test_a_slug_that_is_taken_or_none_is_refused(environment: Environment, slug: str) -> None:
    with pytest.raises(RegistryError) as caught:
        services.environment_create(slug=slug)
    assert caught.value.details[0]["path"] == "slug"


# --- access ---


def test_people_see_every_environment(environment: Environment, viewer: Any) -> None:
    assert environment_access(viewer, "production") == environment
    assert environment_access(viewer) == environment


def test_a_bound_token_sees_its_environment_only(environment: Environment, token: Any) -> None:
    staging = services.environment_create(slug="staging")
    row, _ = token("explain", environment="staging")
    assert environment_access(row) == staging
    assert environment_access(row, "staging") == staging
    for slug in ("production", "nowhere"):
        with pytest.raises(EnvironmentUnknownError, match=f"`{slug}`"):
            environment_access(row, slug)


# --- the change log ---


def test_every_change_is_in_the_log_with_who_made_it(environment: Environment, admin: Any) -> None:
    tool = Tool.objects.get(environment=environment, name="exec")
    services.tool_set_state(tool, state="disabled", by=admin)
    changes = [(change.kind, change.fields["state"], change.actor) for change in selectors.tool_history(tool)]
    assert changes == [("update", ToolState.DISABLED, "user:admin"), ("insert", ToolState.ACTIVE, "system")]


@pytest.mark.parametrize("change", ["UPDATE registry_toolevent SET name = 'x'", "DELETE FROM registry_toolevent"])
def test_the_log_cannot_be_changed(environment: Environment, change: str) -> None:
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(change)
