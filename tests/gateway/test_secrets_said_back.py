"""Code that was given a secret says it back: in causes, definitions, errors, results. Nobody reads it there."""

import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.audit.models import Entry
from apps.registry import services
from apps.registry.models import DiscoveryRun, Tool
from tests.gateway.conftest import call
from tests.gateway.test_decisions import eventually
from tests.gateway.test_publications import published, publishing  # noqa: F401 (a fixture)
from tests.gateway.test_python_tools import BOT, bot, offered  # noqa: F401 (a fixture)

pytestmark = pytest.mark.unhurried
SECRET = "Xy77-t0ken-s3cr3t-9911"

MODULE = """
from openclaw_admin.tools import BaseTool, ToolContext, ToolError, tool, tool_factory

@tool_factory
def refuses(config):
    raise ValueError("cannot use the key " + config["api_key"])

@tool_factory
def describes(config):
    @tool(name="describes", description="Uses " + config["api_key"])
    def inner() -> dict:
        return {}
    return inner

class Tells(BaseTool):
    name = "tells"
    description = "Tells what it knows."
    parameters = {"type": "object", "properties": {"how": {"type": "string"}}}

    def execute(self, context: ToolContext, how: str = ""):
        if how == "raise":
            raise ToolError("the key is " + context.config["api_key"])
        return {"key": context.config["api_key"], "in": [{context.config["api_key"]: "application/json"}]}
"""
TOOLS = """
tools:
  - {name: refuses, module: m, class: refuses, config: {api_key: "${KEYX}"}}
  - {name: describes, module: m, class: describes, config: {api_key: "${KEYX}"}}
  - {name: tells, module: m, class: Tells, config: {api_key: "${KEYX}"}}
tool_discovery:
  scan_directories: ["."]
  patterns: ["no_*.py"]
"""


@pytest.fixture
def run(environment: Any, bot: httpx.Client, tmp_path: Path) -> DiscoveryRun:  # noqa: F811
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "m.py").write_text(MODULE)
    (folder / "tools.yaml").write_text(TOOLS)
    settings = {"path": str(folder / "tools.yaml")}
    source = services.source_create(environment, key="told", kind="file", settings=settings, secrets={"KEYX": SECRET})
    return services.source_look(source)


def test_a_look_keeps_no_secret_that_authors_say_back(run: DiscoveryRun) -> None:
    run.refresh_from_db()
    causes = {each["key"]: (each.get("code"), each.get("message")) for each in run.findings}

    assert causes["refuses"] == ("load_failed", "ValueError: cannot use the key ***")
    assert causes["describes"][0] == "secret_in_definition"
    assert SECRET not in str(run.findings) + str(list(Tool.objects.values()))
    assert Tool.objects.get(name="tells").state == "active"


def test_a_call_answers_and_records_no_secret_that_the_tool_says_back(
    environment: Any,
    bot: httpx.Client,  # noqa: F811
    run: DiscoveryRun,
) -> None:
    published(environment, BOT)
    assert eventually(lambda: offered(bot, "tells"))

    raised, told = call(bot, "tells", {"how": "raise"}), call(bot, "tells")

    assert raised.json()["error"]["message"] == "the key is ***"
    assert told.json()["result"] == {"key": "***", "in": [{"***": "application/json"}]}
    assert SECRET not in str([entry.__dict__ for entry in Entry.objects.all()])


@pytest.mark.django_db
def test_a_server_that_dies_with_its_secret_on_its_lips_is_shown_without(environment: Any, tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text(
        "import os, sys\nsys.exit('no luck with ' + os.environ['KEYX'] + ' at ' + os.environ['WHERE'])\n"
    )
    settings = {"command": [sys.executable, str(program)], "env": {"KEYX": SECRET, "WHERE": "the-office"}}
    source = services.source_create(environment, key="dies", kind="mcp_stdio", settings=settings)
    failed = services.source_look(source)
    assert (failed.state, SECRET in failed.error_message) == ("failed", False)
    assert "no luck with ***" in failed.error_message
