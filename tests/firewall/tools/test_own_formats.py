"""Formats of an author's own: registered by a decorator or a package, checked in a confined process, before the run."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.runtime.kit import ToolKit, ToolNotReadyError, run_tool
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.definition_json import read_definition
from apps.firewall.tools.discovery.described import found_in
from apps.firewall.tools.discovery.entry_points import look_entry_points
from apps.firewall.tools.executors import PythonExecutor
from apps.firewall.tools.lint import lint_definition
from apps.firewall.tools.own_formats import (
    FormatUncheckedError,
    Texts,
    format_problems,
    formats_in,
    with_packaged_formats,
)
from apps.firewall.tools.python_tools import Described, Place, PythonTools

pytestmark = pytest.mark.unhurried

CHECKS = """
import os
from openclaw_admin.tools import format_check

@format_check("car-plate", example="BE-1234", meaning="a plate of Switzerland")
def is_plate(text: str) -> bool:
    if text == "raise":
        raise ValueError("cannot read s3cret-text")
    if text == "die":
        os._exit(3)
    if text == "hang":
        while True: pass
    return text[:2].isupper() and text[2:3] == "-"
"""
TOOL = """
from openclaw_admin.tools import tool

@tool(parameters={
    "type": "object",
    "properties": {
        "plate": {"type": "string", "format": "car-plate", "description": "Plate of the car."},
        "others": {"type": "array", "items": {"type": "string", "format": "car-plate"}},
        "secret": {"type": "string", "format": "car-plate", "sensitive": True},
    },
})
def find_car(**params):
    "Find a car by its plate."
    return params
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "car_tool.py").write_text(CHECKS + TOOL)
    return tmp_path


def formats_of(folder: Path, tool: str) -> Any:
    found = {each.key: each for each in asyncio.run(ToolKit(folder).look()).found}
    return {each.definition.name: dict(each.definition.formats) for each in found.values() if each.definition}[tool]


def test_a_text_without_the_format_is_refused_in_the_authors_words(folder: Path) -> None:
    assert run_tool(folder, "find_car", {"plate": "BE-1"}).result == {"plate": "BE-1"}

    answer = run_tool(folder, "find_car", {"plate": "no", "others": ["BE-1", "nor"], "secret": "1234"})

    assert answer.error is not None
    assert (answer.status, answer.error["code"]) == ("denied", "parameter_validation_failed")
    meaning = "must be a plate of Switzerland such as `BE-1234`, got"
    assert {(each["path"], each["code"]): each["message"] for each in answer.error["details"]} == {
        ("plate", "invalid_format"): f'`plate` {meaning} "no"',
        ("others[1]", "invalid_format"): f'`others[1]` {meaning} "nor"',
        ("secret", "invalid_format"): f"`secret` {meaning} a value that is not shown",
    }


@pytest.mark.parametrize("text", ["raise", "die"])
def test_a_check_that_breaks_lets_nothing_through_and_its_author_sees_why(folder: Path, text: str) -> None:
    answer = run_tool(folder, "find_car", {"plate": text})

    assert answer.error is not None
    assert (answer.status, answer.error["code"]) == ("denied", "format_unchecked")
    assert "s3cret" not in str(answer.error)
    assert answer.cause is not None
    assert text == "die" or "ValueError: cannot read s3cret-text" in answer.cause.traceback


@pytest.mark.slow
def test_a_check_that_does_not_end_is_ended(folder: Path) -> None:
    answer = run_tool(folder, "find_car", {"plate": "hang"})
    assert answer.error is not None
    assert answer.error["code"] == "format_unchecked"


def test_a_check_counts_for_modules_that_import_it_and_for_no_others(tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text(CHECKS)
    (tmp_path / "a_tool.py").write_text("import checks\n" + TOOL)
    (tmp_path / "b_tool.py").write_text(TOOL.replace("find_car", "lose_car"))

    assert formats_of(tmp_path, "find_car") == {"car-plate": "a plate of Switzerland such as `BE-1234`"}
    assert formats_of(tmp_path, "lose_car") == {}
    assert run_tool(tmp_path, "find_car", {"plate": "no"}).status == "denied"


def test_nobody_takes_the_name_of_a_known_format(tmp_path: Path) -> None:
    (tmp_path / "car_tool.py").write_text((CHECKS + TOOL).replace("car-plate", "date"))
    with pytest.raises(ToolNotReadyError, match="a format `date` exists"):
        run_tool(tmp_path, "find_car", {})


def package(folder: Path, name: str, target: str, *, more: str = "") -> None:
    """Install a distribution that brings a format, as `pip install --target` leaves it."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[openclaw.formats]\ncar-plate = {target}\n{more}")


async def test_an_installed_package_registers_a_format_by_an_entry_point(tmp_path: Path) -> None:
    (tmp_path / "plates.py").write_text("def is_plate(text): return text.startswith('BE-')\n")
    package(tmp_path, "plates", "plates:is_plate", more="[openclaw.tools]\ncars = cars\n")
    (tmp_path / "cars.py").write_text("import plates\n" + TOOL)  # so that it belongs to the code that is accepted
    connection = Connection(source="cars", kind="entry_points", settings={"scan_directories": [str(tmp_path)]})

    look = await look_entry_points(connection, python=PythonTools())

    (found,) = [each for each in look.found if each.definition is not None and each.definition.name == "find_car"]
    assert found.definition is not None
    assert found.definition.formats == {"car-plate": ""}
    assert isinstance(found.executor, PythonExecutor)
    checked = await PythonTools().check_formats(found.executor, [("car-plate", "BE-7"), ("car-plate", "ZH-7")])
    assert checked == [True, False]

    async def ask(texts: Texts) -> list[bool]:
        return await PythonTools().check_formats(found.executor, texts)  # type: ignore[arg-type]

    (problem,) = await format_problems(found.definition, {"plate": "ZH-7"}, ask)
    assert problem["message"] == '`plate` must be a car-plate, got "ZH-7"'


async def test_a_package_in_the_folder_of_a_pinned_tool_is_no_part_of_what_was_accepted(tmp_path: Path) -> None:
    (tmp_path / "plates.py").write_text("def is_plate(text): return True\n")
    package(tmp_path, "plates", "plates:is_plate")
    (tmp_path / "a_tool.py").write_text(TOOL)
    answer = await ToolKit(tmp_path).call("find_car", {"plate": "BE-7"})
    assert answer.error is not None
    assert (answer.status, answer.error["code"]) == ("denied", "format_unchecked")


def test_of_two_packages_with_one_format_none_counts(tmp_path: Path) -> None:
    (tmp_path / "plates.py").write_text("def one(text): return True\ndef two(text): return True\n")
    package(tmp_path, "plates", "plates:one")
    package(tmp_path, "others", "plates:two")
    (tmp_path / "a_tool.py").write_text(TOOL)
    with pytest.raises(ToolNotReadyError, match="several installed packages bring a format `car-plate`"):
        run_tool(tmp_path, "find_car", {})


def test_a_tool_of_any_kind_may_name_a_format_of_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "plates_here.py").write_text("raise SystemExit('the server loads no check')\n")
    package(tmp_path, "plates-here", "plates_here:is_plate")
    schema = {"type": "object", "properties": {"plate": {"type": "string", "format": "car-plate"}}}

    definition = with_packaged_formats(read_definition({"name": "get_car", "parameters": schema}))

    assert definition.formats == {"car-plate": ""}
    assert "format_unknown" not in {each.code for each in lint_definition(definition)}


async def test_a_format_that_nothing_checks_any_more_lets_nothing_through(folder: Path) -> None:
    executor = PythonExecutor(attribute="find_car", file=str(folder / "car_tool.py"), folder=str(folder))
    assert await PythonTools().check_formats(executor, [("car-plate", "BE-1"), ("car-plate", "no")]) == [True, False]
    with pytest.raises(FormatUncheckedError, match="nothing checks the format `gone` any more"):
        await PythonTools().check_formats(executor, [("gone", "BE-1")])
    with pytest.raises(FormatUncheckedError):
        await PythonTools().check_formats(None, [("car-plate", "BE-1")])


@pytest.mark.parametrize("name", ["plate", "emial", "Date", "phone_number"])
def test_a_format_that_nobody_knows_is_an_error_with_its_place(name: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string", "format": name}}}}
    findings = lint_definition(read_definition({"name": "get_a", "parameters": schema}))
    (finding,) = [each for each in findings if each.code == "format_unknown"]
    assert (finding.severity, finding.path) == ("error", "parameters.properties.a.items.format")
    assert f"`{name}`" in finding.message


@pytest.mark.parametrize("name", ["date", "uuid", "duration", "iri", "phone-number", "int64", "uint32", "binary"])
def test_formats_of_json_schema_of_openapi_and_ours_are_known(name: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "format": name}, "format": {"type": "string"}}}
    codes = {each.code for each in lint_definition(read_definition({"name": "get_a", "parameters": schema}))}
    assert "format_unknown" not in codes
    assert list(formats_in(schema)) == [("properties.a.format", name)]


async def test_they_count_in_a_program_of_ones_own_too() -> None:
    from apps.firewall.tools.authoring.formats import format_check
    from apps.firewall.tools.authoring.registry import ToolRegistry

    @format_check("even-digits", example="24", meaning="an even number of digits")
    def is_even(text: str) -> bool:
        return len(text) % 2 == 0

    lamps: dict[str, Any] = {}
    registry = ToolRegistry()
    schema = {"type": "object", "properties": {"code": {"type": "string", "format": "even-digits"}}}
    registry.register({"name": "take_code", "parameters": schema}, handler=lambda code: {"code": code})
    registry.register({"name": "break_down"}, handler=lambda: lamps["lamp"])

    assert (await registry.call("take_code", {"code": "24"})).result == {"code": "24"}
    refused = await registry.call("take_code", {"code": "245"})
    assert refused.error is not None
    assert "`code` must be an even number of digits such as `24`" in refused.error["message"]
    broken = await registry.call("break_down", {})
    assert broken.cause is not None
    assert (broken.cause.exception, broken.cause.message) == ("KeyError", "'lamp'")


async def test_what_a_process_says_of_formats_is_held_to_the_schema_and_to_some_letters() -> None:
    schema = {"type": "object", "properties": {"plate": {"type": "string", "format": "car-plate"}}}
    formats = {"car-plate": "a plate " + "x" * 10_000, "other": "a lie"}
    offer = {"attribute": "find_car", "definition": {"name": "find_car", "parameters": schema, "formats": formats}}

    async def described() -> AsyncIterator[Described]:
        yield Described(Place(key="car_tool.py", file="/srv/car_tool.py"), {"offers": [offer]})

    (found,) = await found_in(described(), source="cars")

    assert found.definition is not None
    assert set(found.definition.formats) == {"car-plate"}
    assert found.definition.formats["car-plate"].startswith("a plate")
    assert len(found.definition.formats["car-plate"]) <= 200
