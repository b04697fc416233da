"""Errors in how a tool is written keep it from being offered, whichever way leads there; what is offered goes on."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.firewall.tools.discovery.found import Look
from apps.registry import selectors, services
from apps.registry.errors import ToolInvalidError
from apps.registry.models import DiscoveryRun, Environment, Tool
from tests.registry.conftest import SCHEMA, found, look, source  # noqa: F401 - fixtures
from tests.registry.test_command import tools

pytestmark = pytest.mark.django_db
TakeLook = Callable[..., DiscoveryRun]
WRONG = {"type": "object", "properties": {"query": {"type": "string", "format": "emial"}}}


def tool(environment: Environment, name: str = "files__list") -> Tool:
    return Tool.objects.select_related("environment", "discovery_source").get(environment=environment, name=name)


def details(caught: Any) -> list[tuple[str, str]]:
    return [(each["path"], each["code"]) for each in caught.value.details]


def test_a_tool_that_is_found_with_errors_waits_with_its_reason(environment: Environment, look: TakeLook) -> None:  # noqa: F811
    run = look(found("files__list", parameters=WRONG), found("files__get"))

    row = tool(environment)
    assert (row.state, run.added, run.broken) == ("registered", 1, 1)
    assert row.state_reason.startswith("parameters.properties.query.format: nothing checks the format `emial`")
    (finding,) = [each for each in run.findings if each["tool"] == "files__list"]
    assert (finding["outcome"], finding["code"]) == ("broken", "lint_errors")
    assert tool(environment, "files__get").state == "active"


def test_it_is_offered_as_soon_as_its_source_has_mended_it(environment: Environment, look: TakeLook) -> None:  # noqa: F811
    look(found("files__list", parameters=WRONG))
    look(found("files__list"))
    assert tool(environment).state == "active"


def test_nobody_activates_it_by_hand(environment: Environment, look: TakeLook, admin: Any) -> None:  # noqa: F811
    look(found("files__list", description=""))
    for state in ("active", "initialised"):
        if state == "initialised":
            assert services.tool_set_state(tool(environment), state=state, by=admin).state == state
        with pytest.raises(ToolInvalidError) as caught:
            services.tool_set_state(tool(environment), state="active", by=admin)
        assert details(caught) == [("description", "description_missing")]
        assert "cannot be offered before its errors are mended" in caught.value.message


@pytest.mark.parametrize(
    ("withdrawn", "back"), [("disabled", "active"), ("quarantined", "active"), ("quarantined", "deprecated")]
)
def test_one_that_was_withdrawn_comes_back_without_errors_only(
    environment: Environment,
    look: TakeLook,  # noqa: F811
    withdrawn: str,
    back: str,
) -> None:
    look(found("files__list"))
    services.tool_set_state(tool(environment), state=withdrawn)
    Tool.objects.filter(name="files__list").update(params_schema=WRONG)
    with pytest.raises(ToolInvalidError):
        services.tool_set_state(tool(environment), state=back)


def test_a_changed_definition_with_errors_is_not_accepted(environment: Environment, look: TakeLook) -> None:  # noqa: F811
    look(found("files__list"))
    look(found("files__list", parameters=WRONG))
    drift = selectors.drift_pending(tool(environment))
    assert drift is not None

    with pytest.raises(ToolInvalidError) as caught:
        services.drift_accept(drift, by=None)

    assert details(caught) == [("parameters.properties.query.format", "format_unknown")]
    assert tool(environment).state == "quarantined"
    assert services.drift_dismiss(drift, by=None).state == "active"


def test_one_that_comes_back_with_errors_waits(environment: Environment, look: TakeLook) -> None:  # noqa: F811
    look(found("files__list", parameters=WRONG), found("files__get"))
    Tool.objects.filter(name="files__list").update(state="active")  # as before there was this rule
    look(found("files__get"))
    assert tool(environment).state == "unregistered"
    look(found("files__list", parameters=WRONG), found("files__get"))
    assert tool(environment).state == "registered"


def test_one_that_is_offered_already_goes_on_and_may_be_made_stricter(environment: Environment, look: TakeLook) -> None:  # noqa: F811
    look(found("files__list", parameters=WRONG))
    Tool.objects.filter(name="files__list").update(state="active")

    run = look(found("files__list", parameters=WRONG))
    saved = services.tool_save(tool(environment), fields={"owner_only": True}, expected_version=None)

    assert (run.broken, saved.state, saved.owner_only) == (0, "active", True)


def test_an_offered_tool_is_not_changed_into_one_with_errors(environment: Environment) -> None:
    definition = {"name": "lamp_set", "description": "Sets a lamp.", "parameters": SCHEMA}
    from apps.registry.registering import read_order

    order = read_order(environment, definition, None)
    row = services.tool_set_state(services.tool_register(environment, order.definition), state="active")
    for fields, path in (
        ({"description": ""}, "description"),
        ({"params_schema": WRONG}, "parameters.properties.query.format"),
        ({"params_schema": {"type": "object", "required": ["x"]}}, "params_schema.required[0]"),
        ({"traits": {"colour": 1}}, "traits.colour"),
        ({"traits": {"formats": {"emial": "an e-mail"}}}, "traits.formats"),
    ):
        with pytest.raises(ToolInvalidError) as caught:
            services.tool_save(row, fields=fields, expected_version=None)
        assert details(caught)[0][0] == path


def test_what_a_gateway_runs_itself_is_not_judged(environment: Environment, tmp_path: Any) -> None:
    plugins = services.source_create(
        environment, key="tides", kind="openclaw_plugins", settings={"scan_directories": [str(tmp_path)]}
    )
    from apps.firewall.tools.definition import Definition
    from apps.firewall.tools.discovery.found import Found

    each = Found(key="tides", definition=Definition(name="tide_look"), plugin="tide-tables")
    services.run_take(services.run_start(plugins), Look(found=(each,)))
    assert tool(environment, "tide_look").state == "active"


def test_every_door_of_the_command_line_is_held(environment: Environment, tmp_path: Any) -> None:
    from django.core.management import CommandError

    file = tmp_path / "lamp.yaml"
    file.write_text("{name: lamp_list}")
    with pytest.raises(CommandError, match="description: without a description"):
        tools("register", str(file), "--activate")
    assert not Tool.objects.filter(name="lamp_list").exists()
    tools("register", str(file))
    with pytest.raises(CommandError, match="description: without a description"):
        tools("state", "lamp_list", "active")


def test_what_demonstrations_show_has_no_errors(environment: Environment) -> None:
    from apps.policies.services.demo import demo_import
    from apps.registry.findings import tool_findings

    demo_import(environment, by=None)
    errors = [each for row in Tool.objects.filter(environment=environment) for each in tool_findings(row)]
    assert [each for each in errors if each.severity == "error"] == []
