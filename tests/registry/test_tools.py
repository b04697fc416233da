"""Tools of plugins and servers: taken over as a whole list, checked as a whole, changed one at a time."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.accounts.errors import PermissionDeniedError
from apps.firewall.tools.definition import Definition
from apps.registry import selectors, services
from apps.registry.errors import RecordChangedError, ToolInvalidError, ToolStateError
from apps.registry.models import Environment, Plugin, Tool

pytestmark = pytest.mark.django_db
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


@pytest.fixture
def plugin(environment: Environment) -> Plugin:
    return services.plugin_save(environment, key="search")


def definitions(*names: str) -> list[Definition]:
    return [Definition(name=name, parameters=SCHEMA) for name in names]


def tool(environment: Environment, name: str) -> Tool:
    return Tool.objects.get(environment=environment, name=name)


def test_a_plugins_tools_follow_the_core_ones_in_their_order(environment: Environment, plugin: Plugin) -> None:
    core = selectors.tools_of(environment).count()
    outcome = services.tools_import(environment, definitions("zeta", "alpha"), source="plugin", plugin=plugin)
    assert outcome.created == ("zeta", "alpha")
    assert [row.name for row in selectors.tools_of(environment)][core:] == ["zeta", "alpha"]
    assert selectors.params_schemas(environment)["zeta"] == SCHEMA


def test_importing_the_same_again_changes_nothing(environment: Environment, plugin: Plugin) -> None:
    for expected in (1, 0):
        outcome = services.tools_import(environment, definitions("find"), source="plugin", plugin=plugin)
        assert outcome.changed == expected
    assert tool(environment, "find").version == 1


def test_what_is_gone_is_unregistered_and_comes_back(environment: Environment) -> None:
    names = ("files__list", "files__get")
    services.tools_import(environment, definitions(*names), source="mcp", server_name="files")
    gone = services.tools_import(environment, definitions(names[0]), source="mcp", server_name="files")
    assert gone.removed == (names[1],)
    assert tool(environment, names[1]).state == "unregistered"
    assert names[1] not in {row.name for row in selectors.tools_of(environment)}
    back = services.tools_import(environment, definitions(*names), source="mcp", server_name="files")
    assert back.updated == (names[1],)
    assert tool(environment, names[1]).is_offered


def test_one_servers_list_leaves_the_others_alone(environment: Environment) -> None:
    services.tools_import(environment, definitions("a__x"), source="mcp", server_name="a")
    services.tools_import(environment, definitions("b__x"), source="mcp", server_name="b")
    services.tools_import(environment, [], source="mcp", server_name="a")
    assert not tool(environment, "a__x").is_offered
    assert tool(environment, "b__x").is_offered


def test_a_new_list_keeps_the_state_that_people_set(environment: Environment, plugin: Plugin, admin: Any) -> None:
    services.tools_import(environment, definitions("find"), source="plugin", plugin=plugin)
    services.tool_set_state(tool(environment, "find"), state="quarantined", reason="odd", by=admin)
    changed = [Definition(name="find", description="new", parameters=SCHEMA)]
    services.tools_import(environment, changed, source="plugin", plugin=plugin)
    assert (tool(environment, "find").state, tool(environment, "find").description) == ("quarantined", "new")


@pytest.mark.parametrize("name", ["exec", "EXEC", "bash", "Bash"])
def test_nobody_takes_the_name_of_a_core_tool(environment: Environment, name: str) -> None:
    with pytest.raises(ToolInvalidError):
        services.tools_import(environment, definitions("fine", name), source="mcp", server_name="evil")
    assert not Tool.objects.filter(environment=environment, name="fine").exists()


def test_every_mistake_is_named_at_once_and_nothing_is_changed(environment: Environment) -> None:
    wrong = [
        Definition(name="fine"),
        Definition(name="has space"),
        Definition(name="list", parameters={"type": "array"}),
        Definition(name="broken", parameters={"type": "object", "properties": 7}),
        Definition(name="FINE"),
    ]
    with pytest.raises(ToolInvalidError) as caught:
        services.tools_import(environment, wrong, source="mcp", server_name="s")
    assert {(row["path"], row["code"]) for row in caught.value.details} == {
        ("tools[1].name", "bad_name"),
        ("tools[2].parameters", "not_an_object"),
        ("tools[3].parameters", "bad_schema"),
        ("tools[4].name", "twice"),
    }
    assert not Tool.objects.filter(environment=environment, server_name="s").exists()


@pytest.mark.parametrize(
    "options",
    [
        {"source": "core"},
        {"source": "magic"},
        {"source": "plugin"},
        {"source": "mcp"},
        {"source": "client", "server_name": "x"},
    ],
)
def test_a_source_needs_what_belongs_to_it(environment: Environment, options: dict[str, Any]) -> None:
    with pytest.raises(ToolInvalidError):
        services.tools_import(environment, definitions("find"), **options)


def test_tools_of_a_plugin_that_is_switched_off_are_not_offered(environment: Environment, plugin: Plugin) -> None:
    services.tools_import(environment, definitions("find"), source="plugin", plugin=plugin)
    services.plugin_save(environment, key="SEARCH", is_enabled=False, expected_version=1)
    assert "find" not in {row.name for row in selectors.tools_offered(environment)}
    assert "exec" in {row.name for row in selectors.tools_offered(environment)}


# --- one at a time ---


def test_a_description_is_changed(environment: Environment, admin: Any) -> None:
    before = tool(environment, "exec")
    saved = services.tool_save(before, fields={"description": "Runs"}, expected_version=before.version, by=admin)
    assert (saved.description, saved.version) == ("Runs", before.version + 1)


def test_saving_what_is_there_already_makes_no_version(environment: Environment) -> None:
    row = tool(environment, "exec")
    assert services.tool_save(row, fields={"label": row.label}, expected_version=row.version).version == row.version


def test_whoever_saves_second_sees_both_sides(environment: Environment, admin: Any) -> None:
    row = tool(environment, "exec")
    services.tool_save(row, fields={"label": "Theirs"}, expected_version=row.version, by=admin)
    with pytest.raises(RecordChangedError) as caught:
        services.tool_save(row, fields={"label": "Mine"}, expected_version=row.version, by=admin)
    assert caught.value.mine == {"label": "Mine"}
    assert caught.value.theirs == {"label": "Theirs", "version": 2}
    assert tool(environment, "exec").label == "Theirs"


@pytest.mark.parametrize("fields", [{"name": "other"}, {"state": "active"}, {"params_schema": {"type": "string"}}])
def test_what_cannot_be_changed_is_refused(environment: Environment, fields: dict[str, Any]) -> None:
    row = tool(environment, "exec")
    with pytest.raises(ToolInvalidError):
        services.tool_save(row, fields=fields, expected_version=row.version)


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_only_who_writes_policies_changes_tools(
    environment: Environment, name: str, request: pytest.FixtureRequest
) -> None:
    by, row = request.getfixturevalue(name), tool(environment, "exec")
    attempts: list[Callable[[], object]] = [
        lambda: services.tool_save(row, fields={"label": "x"}, expected_version=1, by=by),
        lambda: services.tool_set_state(row, state="disabled", by=by),
        lambda: services.plugin_save(environment, key="search", by=by),
        lambda: services.tools_import(environment, [], source="client", by=by),
        lambda: services.environment_create(slug="mine", by=by),
        lambda: services.environment_set_dialect(environment, dialect="2026.2", by=by),
    ]
    for attempt in attempts:
        with pytest.raises(PermissionDeniedError):
            attempt()


@pytest.mark.parametrize(
    ("path", "ends"),
    [
        (["disabled", "active", "deprecated", "active"], "active"),
        (["quarantined", "quarantined", "disabled"], "disabled"),
        (["unregistered", "registered", "initialised", "active"], "active"),
    ],
)
def test_a_tool_goes_these_ways(environment: Environment, path: list[str], ends: str) -> None:
    row = tool(environment, "exec")
    for state in path:
        row = services.tool_set_state(row, state=state)
    assert row.state == ends


@pytest.mark.parametrize("state", ["registered", "initialised", "gone"])
def test_a_tool_does_not_go_back_to_where_it_began(environment: Environment, state: str) -> None:
    with pytest.raises(ToolStateError, match=f"`{state}`"):
        services.tool_set_state(tool(environment, "exec"), state=state)
