"""The production files: they hang together with the code, and hold no secret."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands

from tests.ops.conftest import ROOT

DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
COMPOSE_TEXT = (ROOT / "docker" / "compose.yaml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(COMPOSE_TEXT)
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = ("migrate", "web", "worker", "beat")
REFERENCE = re.compile(r"\$\{([A-Z_]+)(:[-?][^}]*)?\}")


def instructions() -> list[list[str]]:
    """The Dockerfile's instructions, each as its words."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return [line.split() for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def command_of(service: str) -> list[str]:
    given = SERVICES[service].get("command")
    if given:
        return [str(part) for part in given]
    (command,) = [line for line in instructions() if line[0] == "CMD"]
    return [word.strip('[]",') for word in command[1:]]


def test_the_services_of_production_are_there() -> None:
    assert set(SERVICES) == {"postgres", "redis", *OURS}


@pytest.mark.parametrize("service", OURS)
def test_each_of_our_services_runs_a_command_that_exists(service: str) -> None:
    command = command_of(service)
    if command[:2] == ["python", "manage.py"]:
        assert get_commands()[command[2]] == "openclaw_admin"
    else:
        assert command[:3] == ["celery", "--app", "openclaw_admin"]
        assert command[3] in {"worker", "beat"}


def test_web_takes_the_options_that_serve_has() -> None:
    from openclaw_admin.management.commands.serve import Command

    parser = Command().create_parser("manage.py", "serve")
    options = parser.parse_args(command_of("web")[3:])
    assert (options.host, options.no_prepare, options.no_background) == ("0.0.0.0", True, True)


def test_the_image_is_built_in_stages_and_runs_without_root_and_with_a_health_check() -> None:
    lines = instructions()
    assert [line[0] for line in lines].count("FROM") == 2
    assert any(line[0] == "HEALTHCHECK" for line in lines)
    users = [line[1] for line in lines if line[0] == "USER"]
    assert users == ["10001:10001"]


def test_every_copied_path_is_in_the_repository() -> None:
    for line in instructions():
        if line[0] == "COPY" and not line[1].startswith("--from"):
            for source in line[1:-1]:
                assert (ROOT / source).exists(), source


def test_no_value_of_a_secret_stands_in_the_files() -> None:
    for name, value in re.findall(r"([A-Z_]*(?:PASSWORD|KEY|SECRET)[A-Z_]*): +(.*)", COMPOSE_TEXT):
        assert value.startswith("${") and ":-" not in value, name
    assert not re.search(r"(?i)(password|secret|_key)[a-z_]*=\S", DOCKERFILE)
    example = (ROOT / "docker" / "example.env").read_text()
    filled = [line for line in example.splitlines() if re.match(r"\w*(PASSWORD|KEY)\w*=.", line)]
    assert filled == []


def test_the_example_names_exactly_the_variables_that_compose_reads() -> None:
    read = {name for name, _ in REFERENCE.findall(COMPOSE_TEXT)} - {"OPENCLAW_ADMIN_VERSION"}
    listed = re.findall(r"^([A-Z_]+)=", (ROOT / "docker" / "example.env").read_text(), flags=re.MULTILINE)
    assert set(listed) == read
    assert len(listed) == len(set(listed))


def test_every_process_has_every_key_of_the_settings_and_no_unknown_variable() -> None:
    table = re.findall(r"^\| `([A-Z_]+)`( \*)? \|", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    keys = {name for name, is_secret in table if is_secret and name.endswith("_KEY")}
    assert len(keys) == 4
    for name in OURS:
        given = set(SERVICES[name]["environment"])
        assert keys <= given, name
        assert given <= {each for each, _ in table}, name
    operations = (ROOT / "docs" / "operations.md").read_text()
    assert {key for key in keys if f"`{key}`" not in operations} == set()


def test_the_keys_of_the_table_are_those_that_the_settings_read() -> None:
    read = set(re.findall(r'env\.secret\("(\w+_KEY)"\)', (ROOT / "openclaw_admin" / "settings.py").read_text()))
    table = set(re.findall(r"^\| `([A-Z_]+_KEY)` \* \|", (ROOT / "README.md").read_text(), flags=re.MULTILINE))
    assert read == table


def test_the_image_holds_the_plugin_of_gateways() -> None:
    assert ["COPY", "openclaw-plugin", "openclaw-plugin"] in instructions()


def test_the_owner_is_known_to_the_migration_only() -> None:
    knowing = {name for name in OURS if "DATABASE_OWNER_URL" in SERVICES[name]["environment"]}
    assert knowing == {"migrate"}


def test_the_roles_script_is_a_shell_script_that_stops_at_an_error() -> None:
    script = (ROOT / "docker" / "postgres" / "10-roles.sh").read_text()
    assert script.startswith("#!/bin/sh\n") and "set -eu" in script and "ON_ERROR_STOP" in script
    assert shlex.split(script.splitlines()[3].rstrip("\\"))[0] == "psql"


def test_what_the_image_must_not_hold_is_ignored() -> None:
    ignored = set((ROOT / ".dockerignore").read_text().split())
    assert {".git", ".venv", "var", "docker/.env"} <= ignored
    assert Path(ROOT / "docker" / ".env").exists() is False or "docker/.env" in (ROOT / ".gitignore").read_text()
