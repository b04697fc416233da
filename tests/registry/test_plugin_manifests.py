"""Plugins of OpenClaw by their manifests: the living example becomes rows, a broken one beside it stops nothing."""

import shutil
from pathlib import Path

import pytest

from apps.registry import services
from apps.registry.models import DiscoverySource, Environment, Tool

pytestmark = pytest.mark.django_db
EXAMPLES = Path(__file__).parents[2] / "docs/examples/openclaw_plugins"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES, tmp_path / "plugins")
    return tmp_path / "plugins"


@pytest.fixture
def source(environment: Environment, folder: Path) -> DiscoverySource:
    settings = {"scan_directories": [str(folder)]}
    return services.source_create(environment, key="plugins", kind="openclaw_plugins", settings=settings)


def rows(environment: Environment) -> dict[str, Tool]:
    found = Tool.objects.select_related("plugin").filter(environment=environment, source="plugin")
    return {tool.name: tool for tool in found}


def test_the_tools_of_a_manifest_are_known_by_name_and_plugin(
    environment: Environment, source: DiscoverySource
) -> None:
    run = services.source_look(source)

    assert (run.state, run.added, run.broken) == ("completed", 3, 0), run.error_message
    tools = rows(environment)
    assert {name: tool.is_optional for name, tool in tools.items()} == {
        "tide_times": False,
        "tide_alarm_set": True,
        "berth_book": True,
    }
    assert {tool.state for tool in tools.values()} == {"active"}
    assert {tool.plugin.key for tool in tools.values() if tool.plugin} == {"tide-tables"}
    assert not any(tool.executor for tool in tools.values())


def test_a_manifest_that_breaks_leaves_its_tools_as_they_were_and_other_plugins_alone(
    environment: Environment, source: DiscoverySource, folder: Path
) -> None:
    services.source_look(source)
    (folder / "tide-tables/openclaw.plugin.json").write_text("{")
    (folder / "other").mkdir()
    (folder / "other/openclaw.plugin.json").write_text(
        '{"id": "other", "configSchema": {}, "contracts": {"tools": ["other_go"]}}'
    )
    run = services.source_look(source)

    assert (run.state, run.added, run.broken, run.removed) == ("completed", 1, 1, 0)
    assert {name: tool.state for name, tool in rows(environment).items()} == {
        "tide_times": "active",
        "tide_alarm_set": "active",
        "berth_book": "active",
        "other_go": "active",
    }
