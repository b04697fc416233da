"""What is installed is what is written down, for everybody the same."""

import re
import tomllib
from importlib.metadata import distributions

import pytest

from tests.ops.conftest import ROOT

PINNED = re.compile(r"[a-z0-9-]+==[A-Za-z0-9.!+-]+")


def lines(name: str) -> list[str]:
    return [line for line in (ROOT / name).read_text().splitlines() if line and not line.startswith("#")]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~; ]", name)[0]).lower()


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_requirement_is_pinned_to_one_version_of_the_index(name: str) -> None:
    assert [line for line in lines(name) if not PINNED.fullmatch(line)] == []


def test_every_direct_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    runtime = {canonical(line) for line in lines("requirements.txt")}
    everything = runtime | {canonical(line) for line in lines("requirements-dev.txt")}
    assert {canonical(name) for name in project["dependencies"]} <= runtime
    assert {canonical(name) for name in project["optional-dependencies"]["dev"]} <= everything


def test_both_files_agree() -> None:
    runtime = dict(line.split("==") for line in lines("requirements.txt"))
    develop = dict(line.split("==") for line in lines("requirements-dev.txt"))
    assert {name for name in runtime.keys() & develop.keys() if runtime[name] != develop[name]} == set()


def test_what_is_installed_is_what_is_pinned() -> None:
    pinned = dict(line.split("==") for line in (*lines("requirements.txt"), *lines("requirements-dev.txt")))
    installed = {canonical(found.name): found.version for found in distributions()}
    assert {name: version for name, version in pinned.items() if installed.get(name) != version} == {}


def test_every_direct_dependency_says_why_it_was_chosen() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    page = (ROOT / "docs" / "dependencies.md").read_text().lower()
    names = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    assert [name for name in map(canonical, names) if f"`{name}`" not in page] == []


def test_browser_libraries_are_pinned_and_locked_without_a_registry() -> None:
    import json

    package = json.loads((ROOT / "package.json").read_text())
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in package["dependencies"].values())
    lock = (ROOT / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    locked = json.loads(lock)["packages"]
    assert all(entry.get("integrity") for name, entry in locked.items() if name)
