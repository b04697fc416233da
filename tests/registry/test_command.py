"""`manage.py tools`: the registry at the command line, with the living examples of the documentation."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.registry import services
from apps.registry.models import DiscoverySource, Environment, Tool
from apps.registry.source_settings import source_secrets
from tests.registry.conftest import found, look, source  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def tools(*words: str) -> str:
    out = io.StringIO()
    call_command("tools", *words, stdout=out, stderr=out)
    return out.getvalue()


def state_of(environment: Environment, name: str) -> str:
    return Tool.objects.get(environment=environment, name=name).state


def test_it_lists_tools_and_filters_by_state(environment: Environment) -> None:
    assert any(line.split() == ["read", "active", "core"] for line in tools("list").splitlines())
    assert tools("list", "--state", "disabled") == ""
    first = json.loads(tools("list", "--json").splitlines()[0])
    assert set(first) == {"name", "state", "origin", "executor", "reason"}


def test_it_registers_the_tools_of_a_file(environment: Environment, tmp_path: Path) -> None:
    file = tmp_path / "lamps.yaml"
    file.write_text(
        """
        tools:
          - name: lamp_set
            description: Sets a lamp.
            parameters: {type: object, properties: {level: {type: integer}}}
          - {name: lamp_list, description: Lists the lamps.}
        """
    )
    assert tools("register", str(file), "--activate") == "lamp_set: active\nlamp_list: active\n"
    assert state_of(environment, "lamp_list") == "active"


def test_run_again_it_changes_what_the_file_says(environment: Environment, tmp_path: Path) -> None:
    file = tmp_path / "lamp.yaml"
    file.write_text("{name: lamp_set, description: Sets a lamp.}")
    assert tools("register", str(file), "--activate") == "lamp_set: active\n"
    assert tools("register", str(file), "--activate") == "lamp_set: active, unchanged\n"

    file.write_text("{name: lamp_set, description: Sets a lamp in a room., timeout: 2}")
    assert tools("register", str(file)) == "lamp_set: active, changed\n"

    row = Tool.objects.get(environment=environment, name="lamp_set")
    assert (row.description, row.traits) == ("Sets a lamp in a room.", {"timeout_ms": 2000})
    file.write_text("{name: lamp_set}")
    with pytest.raises(CommandError, match="cannot be offered before its errors are mended"):
        tools("register", str(file))
    services.tool_set_state(row, state="unregistered")
    file.write_text("{name: lamp_set, description: Sets a lamp again.}")
    assert tools("register", str(file)) == "lamp_set: registered, changed\n"


def test_what_comes_from_elsewhere_is_not_registered_over(
    environment: Environment,
    look: Any,  # noqa: F811
    tmp_path: Path,
) -> None:
    look(found("files__list"))
    for name in ("files__list", "exec"):
        file = tmp_path / "other.yaml"
        file.write_text(json.dumps({"name": name, "description": "Mine now."}))
        with pytest.raises(CommandError, match="was not registered by hand"):
            tools("register", str(file))


def test_every_mistake_of_a_file_is_told_with_its_place(environment: Environment, tmp_path: Path) -> None:
    file = tmp_path / "lamps.yaml"
    file.write_text(
        """
        tols: 1
        tools:
          - {name: lamp_list, permisions: [a:b]}
          - {name: lamp_set, executor: {kind: http, url: set, source: nowhere}}
          - {name: lamp_off, parameters: {type: object, required: [level]}}
        """
    )
    out = io.StringIO()
    with pytest.raises(CommandError, match="nothing is registered"):
        call_command("tools", "register", str(file), stdout=out, stderr=out)
    assert [line.partition(":")[0] for line in out.getvalue().splitlines()] == [
        "tols",
        "tools[0].permisions",
        "tools[1].executor",
        "tools[2].parameters.required[0]",
    ]


def test_of_a_file_with_a_mistake_nothing_is_registered(environment: Environment, tmp_path: Path) -> None:
    file = tmp_path / "lamps.json"
    file.write_text(json.dumps([{"name": "lamp_list"}, {"name": "has space"}]))
    with pytest.raises(CommandError, match="tool_invalid"):
        tools("register", str(file))
    assert not Tool.objects.filter(name="lamp_list").exists()


@pytest.mark.parametrize("text", ["[", "{}", "7", ""])
def test_a_file_that_holds_no_definition_is_refused(environment: Environment, tmp_path: Path, text: str) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(text)
    with pytest.raises(CommandError):
        tools("register", str(file))


def test_it_moves_a_tool(environment: Environment) -> None:
    assert tools("state", "exec", "disabled", "--reason", "not here") == "exec: disabled\n"
    with pytest.raises(CommandError, match="tool_state_refused"):
        tools("state", "exec", "initialised")
    with pytest.raises(CommandError, match="no tool named `nothing`"):
        tools("state", "nothing", "disabled")


def test_it_shows_and_accepts_a_change(environment: Environment, look: Any) -> None:  # noqa: F811
    look(found("files__list"))
    look(found("files__list", description="Otherwise."))
    assert "changed  description" in tools("accept", "files__list", "--show")
    assert state_of(environment, "files__list") == "quarantined"
    assert tools("accept", "files__list").endswith("files__list: active\n")
    with pytest.raises(CommandError, match="nothing of `files__list` waits"):
        tools("accept", "files__list", "--dismiss")


def test_it_says_what_a_source_brought_and_what_is_broken_there(environment: Environment, tmp_path: Path) -> None:
    (tmp_path / "text_tool.py").write_text((EXAMPLES / "tools/folder/text_tool.py").read_text())
    (tmp_path / "bad_tool.py").write_text("import nothing_that_exists\n")
    services.source_create(environment, key="mine", kind="folder", settings={"scan_directories": [str(tmp_path)]})
    said = tools("discover", "mine")
    assert "1 broken" in said.splitlines()[0]
    assert "nothing_that_exists" in said
    assert Tool.objects.filter(environment=environment, plugin__key="mine", state="active").exists()


def test_a_source_that_fails_makes_the_command_fail(environment: Environment, tmp_path: Path) -> None:
    settings = {"scan_directories": [str(tmp_path / "absent")]}
    services.source_create(environment, key="absent", kind="folder", settings=settings)
    with pytest.raises(CommandError, match="1 of 1 sources"):
        tools("discover")


def test_it_makes_the_sources_that_a_tool_file_names(environment: Environment, tmp_path: Path) -> None:
    file = tmp_path / "house_tools.yaml"
    file.write_text(
        """
        tools: []
        tool_discovery:
          remote_registry: {url: "https://tools.acme.example/", auth_token: s3cret-token, sync_interval: 600}
        """
    )
    for _ in range(2):
        said = tools("import", str(file))
    assert said.splitlines() == ["house-tools: Tool file (YAML)", "house-tools-registry: Remote registry"]
    registry = DiscoverySource.objects.get(key="house-tools-registry")
    assert (registry.settings["auth_token"], registry.interval_s) == ({"$secret": "auth_token"}, 600)
    assert DiscoverySource.objects.count() == 2


def test_the_secrets_of_a_tool_file_come_from_a_file_of_their_own(environment: Environment, tmp_path: Path) -> None:
    listed, secrets = tmp_path / "house.yaml", tmp_path / "secrets.yaml"
    listed.write_text("tools: []")
    secrets.write_text("DOOR_KEY: sesame-123")
    tools("import", str(listed), "--secrets", str(secrets))
    assert source_secrets(DiscoverySource.objects.get(key="house")) == {"DOOR_KEY": "sesame-123"}
    tools("import", str(listed))
    assert source_secrets(DiscoverySource.objects.get(key="house")) == {"DOOR_KEY": "sesame-123"}
    secrets.write_text("[DOOR_KEY]")
    with pytest.raises(CommandError, match="object of texts"):
        tools("import", str(listed), "--secrets", str(secrets))


def test_it_adds_and_changes_a_source_of_any_kind(environment: Environment, tmp_path: Path) -> None:
    file = tmp_path / "units.json"
    members: dict[str, Any] = {
        "kind": "mcp_http",
        "settings": {"url": "https://units.example/mcp", "auth_token": "t-1"},
    }
    file.write_text(json.dumps(members))
    assert tools("source", "units", str(file)) == "units: MCP server (address)\n"
    file.write_text(json.dumps(members | {"on_drift": "keep", "interval_s": 300}))
    tools("source", "units", str(file))
    made = DiscoverySource.objects.get(key="units")
    assert (made.settings["auth_token"], made.on_drift, made.interval_s) == ({"$secret": "auth_token"}, "keep", 300)
    file.write_text(json.dumps(members | {"kind": "remote"}))
    with pytest.raises(CommandError, match="another kind"):
        tools("source", "units", str(file))


@pytest.mark.parametrize(
    "text", ["[]", "{settings: {}}", "{kind: folder, command: [x]}", "{kind: folder}", "{kind: folder, settings: [x]}"]
)
def test_a_source_that_cannot_be_is_not_made(environment: Environment, tmp_path: Path, text: str) -> None:
    file = tmp_path / "source.yaml"
    file.write_text(text)
    with pytest.raises(CommandError):
        tools("source", "some", str(file))
    assert not DiscoverySource.objects.exists()


def test_it_checks_and_describes_tools(environment: Environment, tmp_path: Path) -> None:
    file = tmp_path / "lamp.json"
    file.write_text(json.dumps({"name": "stuff", "description": ""}))
    tools("register", str(file))
    with pytest.raises(CommandError, match="must be mended"):
        tools("lint", "stuff", "--strict")
    assert "### `read`" in tools("docs", "--title", "House")
