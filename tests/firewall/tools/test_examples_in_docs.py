"""The Python of docs/tools.md does what the page says."""

import re
from pathlib import Path

from apps.firewall.tools.connections import Connection, Secrets
from apps.firewall.tools.discovery.folder import look_folder
from apps.firewall.tools.discovery.tool_file import read_tool_file
from apps.firewall.tools.python_tools import PythonTools
from openclaw_admin.tools import ToolRegistry

PAGE = Path(__file__).parents[3] / "docs" / "tools.md"
SECTION = PAGE.read_text(encoding="utf-8").partition("## Tools in Python")[2].partition("\n## ")[0]
PYTHON = re.findall(r"```python\n(.*?)```", SECTION, flags=re.DOTALL)
YAML = re.findall(r"```yaml\n(.*?)```", SECTION, flags=re.DOTALL)


async def test_the_tool_of_the_page_is_one(tmp_path: Path) -> None:
    (tmp_path / "weather_tool.py").write_text(PYTHON[0])
    connection = Connection(
        source="s", kind="folder", settings={"scan_directories": [str(tmp_path)]}, secrets=Secrets()
    )

    (found,) = (await look_folder(connection, python=PythonTools())).found

    assert found.failure is None
    assert found.definition is not None
    assert found.definition.parameters["required"] == ["city"]
    assert found.definition.parameters["properties"]["unit"]["default"] == "celsius"
    assert found.definition.timeout_ms == 10_000


def test_the_file_of_the_page_is_read() -> None:
    listed = read_tool_file(YAML[0], folder=Path("/opt/openclaw"), variables={})

    assert [tool.name for tool in listed.tools] == ["weather_get"]
    assert listed.scan_directories == ("/opt/openclaw/tools",)
    assert listed.loading.profiles == {"basic": ("weather_get",)}


def test_the_registry_of_the_page_answers() -> None:
    names: dict[str, object] = {}

    exec(PYTHON[1], names)

    registry = names["registry"]
    assert isinstance(registry, ToolRegistry)
    assert registry.standing("double").state == "deprecated"
    assert registry.standing("double").success_rate == 1.0
    registry.unregister("double")
