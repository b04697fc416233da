"""Plugins of OpenClaw as their manifests describe them: the living example, and broken ones beside it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.connections import Connection
from apps.firewall.tools.discovery.found import Found, Look
from apps.firewall.tools.discovery.openclaw_plugins import MANIFEST, look_openclaw_plugins

EXAMPLES = Path(__file__).parents[3] / "docs/examples/openclaw_plugins"


async def look(*folders: Path | str) -> Look:
    settings = {"scan_directories": [str(each) for each in folders]}
    return await look_openclaw_plugins(Connection(source="plugins", kind="openclaw_plugins", settings=settings))


def write(folder: Path, manifest: Any, at: str = "one") -> Path:
    place = folder / at
    place.mkdir(parents=True)
    (place / MANIFEST).write_text(manifest if isinstance(manifest, str) else json.dumps(manifest))
    return place


def manifest(plugin: str = "one", **members: Any) -> dict[str, Any]:
    return {"id": plugin, "configSchema": {"type": "object"}, **members}


def names(found: Look) -> list[str]:
    return [each.definition.name for each in found.found if each.definition is not None]


def why(found: Found) -> str:
    assert found.failure is not None
    return found.failure.message


async def test_the_example_brings_its_tools_and_says_which_are_optional() -> None:
    found = await look(EXAMPLES)

    assert found.failure is None
    assert names(found) == ["tide_times", "tide_alarm_set", "berth_book"]
    assert [(each.plugin, each.is_optional) for each in found.found] == [
        ("tide-tables", False),
        ("tide-tables", True),
        ("tide-tables", True),
    ]
    times = found.found[0]
    assert times.definition is not None
    assert times.definition.idempotent
    assert times.definition.tags == ("replay-safe",)
    assert times.facts["plugin_version"] == "1.2.0"
    assert times.executor is None


async def test_the_keys_of_tools_begin_with_that_of_their_manifest(tmp_path: Path) -> None:
    place = write(tmp_path, manifest(contracts={"tools": ["go"]}))

    assert [each.key for each in (await look(tmp_path)).found] == [f"{place / MANIFEST}:go"]


async def test_a_plugin_without_tools_brings_none(tmp_path: Path) -> None:
    write(tmp_path, manifest(providers=["router"]))

    assert (await look(tmp_path)).found == ()


async def test_whole_definitions_are_read_where_a_manifest_has_them(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"symbol": {"type": "string"}}}
    tool = {"name": "Stock_Quote", "description": "Fetches a quote.", "parameters": schema, "optional": True}
    write(tmp_path, manifest(tools=[tool]))
    (found,) = (await look(tmp_path)).found

    assert found.definition is not None
    assert (found.definition.name, found.definition.parameters) == ("stock_quote", schema)
    assert found.is_optional


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "no JSON5"),
        ("[]", "no object"),
        ("[" * 5000, "no JSON5"),
        ({"configSchema": {}}, "`id`"),
        ({"id": "  ", "configSchema": {}}, "`id`"),
        ({"id": "a\0b", "configSchema": {}}, "`id`"),
        ({"id": "one"}, "`configSchema`"),
        (" " * 300_000, "bytes"),
        ("{a: [" + "1," * 30_000 + "]}", "no JSON5"),
    ],
)
async def test_a_broken_manifest_is_shown_and_stops_no_other(tmp_path: Path, content: Any, message: str) -> None:
    place = write(tmp_path, content, "a")
    write(tmp_path, manifest("two", contracts={"tools": ["two_go"]}), "b")
    found = await look(tmp_path)
    broken, sound = found.found

    assert message in why(broken)
    assert broken.key == str(place / MANIFEST)
    assert names(found) == ["two_go"]
    assert sound.failure is None


@pytest.mark.parametrize("tool", ["", "no blanks", 7, None, {"name": "x", "parameters": {"type": "strin"}}])
async def test_a_broken_tool_is_shown_and_stops_no_other(tmp_path: Path, tool: Any) -> None:
    write(tmp_path, manifest(contracts={"tools": ["first"]}, tools=[tool, "last"]))
    found = await look(tmp_path)

    assert names(found) == ["first", "last"]
    assert [each.failure.code for each in found.found if each.failure] == ["definition_invalid"]


async def test_a_second_plugin_of_the_same_id_is_broken(tmp_path: Path) -> None:
    write(tmp_path, manifest(contracts={"tools": ["go"]}), "a")
    write(tmp_path, manifest("ONE", contracts={"tools": ["go"]}), "b")
    first, second = (await look(tmp_path)).found

    assert first.failure is None
    assert "another plugin" in why(second)


async def test_what_lies_below_a_plugin_or_too_deep_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, manifest(contracts={"tools": ["go"]}), "a")
    write(tmp_path, manifest("inner", contracts={"tools": ["inner_go"]}), "a/node_modules/inner")
    write(tmp_path, manifest("deep", contracts={"tools": ["deep_go"]}), "1/2/3/4/5")

    assert names(await look(tmp_path)) == ["go"]


async def test_a_folder_that_is_none_fails_the_look(tmp_path: Path) -> None:
    for folder in (tmp_path / "none", "relative"):
        failure = (await look(folder)).failure
        assert failure is not None
        assert "is no folder" in failure.message


async def test_a_changed_optional_mark_is_no_change_of_the_definition_but_of_the_offer(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "tide-tables", tmp_path / "tide-tables")
    path = tmp_path / "tide-tables" / MANIFEST
    before = (await look(tmp_path)).found[1]
    path.write_text(path.read_text().replace("tide_alarm_set: { optional: true }", "tide_alarm_set: {}"))
    after = (await look(tmp_path)).found[1]

    assert before.definition is not None
    assert after.definition is not None
    assert before.definition.digest == after.definition.digest
    assert (before.is_optional, after.is_optional) == (True, False)
