"""docs/policy.md says what the engine's tables say. Its words are free; names, orders, paths and values are not."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.engine.exec_settings import MODES
from apps.firewall.engine.known_keys import ANY, KnownObject
from apps.firewall.engine.layers import LAYERS, layers_of
from apps.policies.document.enforcement import ENFORCEMENT

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "policy.md").read_text(encoding="utf-8")
NEW, OLD = DIALECTS["2026.9"], DIALECTS["2026.2"]
TABLES_OF_THEIR_OWN = {"release", "recorded_version", "layers", "groups", "profiles", "document_keys"}
COUNTED = {"catalogue", "sections", "resolver_location"}


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading, its two head rows left out."""
    assert f"\n{heading}\n" in PAGE, heading
    below = re.split(r"\n#+ ", PAGE.split(f"\n{heading}\n")[1])[0]
    lines = [line for line in below.splitlines() if line.startswith("|")][2:]
    return [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def shown(value: Any) -> str:
    """Write a value of a dialect as the page does."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == () or value == {}:
        return "none"
    if isinstance(value, Mapping):
        return "; ".join(f"`{key}`: {shown(each)}" for key, each in value.items())
    if isinstance(value, tuple):
        return " ".join(f"`{each}`" for each in value)
    return f"`{value}`"


def cell(dialect: Dialect, field: str) -> str:
    value = getattr(dialect, field)
    return str(len(value)) if field in COUNTED else shown(value)


def test_every_layer_stands_with_its_label_its_place_and_its_number() -> None:
    new, old = (
        {layer.key: str(number) for number, layer in enumerate(layers_of(each), start=1)} for each in (NEW, OLD)
    )
    listed = rows("## Layers")
    assert [row[:2] for row in listed] == [[f"`{layer.key}`", layer.label] for layer in LAYERS.values()]
    assert [row[3:] for row in listed] == [[new.get(key, "-"), old.get(key, "-")] for key in LAYERS]
    for row, layer in zip(listed, LAYERS.values(), strict=True):
        place, _, words = row[2].partition(": ")
        assert (place, bool(words)) == (f"`{layer.path}`", True)


def test_every_difference_between_the_releases_is_named() -> None:
    differing = [
        field.name
        for field in fields(Dialect)
        if field.name not in TABLES_OF_THEIR_OWN and getattr(NEW, field.name) != getattr(OLD, field.name)
    ]
    listed = rows("## Differences between 2026.9 and 2026.2")
    expected = [[f"`{name}`", cell(NEW, name), cell(OLD, name)] for name in differing]
    assert sorted(row[:3] for row in listed) == sorted(expected)
    assert all(row[3] for row in listed)


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
def test_every_group_of_tools_is_listed(dialect: Dialect) -> None:
    groups = {f"`{name}`": shown(tools) for name, tools in dialect.groups.items()}
    assert dict(row[:2] for row in rows(f"### Groups of {dialect.release}")) == groups


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
def test_every_profile_is_listed(dialect: Dialect) -> None:
    profiles = {f"`{name}`": shown(policy.allow) for name, policy in dialect.profiles.items()}
    assert dict(row[:2] for row in rows(f"### Profiles of {dialect.release}")) == profiles
    assert all(policy.deny is None for policy in dialect.profiles.values())


def test_every_mode_of_commands_is_listed() -> None:
    modes = [[f"`{mode}`", f"`{security}`", f"`{ask}`"] for mode, (security, ask) in MODES.items()]
    assert [row[:3] for row in rows("## Commands")] == modes


def _places(known: KnownObject, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Every key of a release's document, dotted."""
    for key in sorted(known.keys or ()):
        below = known.below.get(key)
        yield ".".join((*path, key))
        if below is not None and len(path) < 8:
            yield from _places(below, (*path, key))
    if known.keys is None and ANY in known.below:
        yield from _places(known.below[ANY], (*path, ANY))


CONCERNED = {"tools", "session", "commands"}
OF_AGENTS = {"tools", "sandbox", "subagents", "workspace", "elevatedDefault"}


def _is_about_tools(place: str) -> bool:
    steps = place.split(".")
    if steps[0] != "agents" or len(steps) < 3:
        return steps[0] in CONCERNED and len(steps) > 1
    inner = steps[2:] if steps[1] == "defaults" else steps[3:]
    return bool(inner) and inner[0] in OF_AGENTS and inner != ["tools"]


def _has_a_line(place: str) -> bool:
    steps = place.split(".")
    return any(".".join(steps[:length]) in ENFORCEMENT for length in range(1, len(steps) + 1))


def test_what_becomes_of_each_key_stands_in_one_table() -> None:
    known = {place for release in DIALECTS.values() for place in _places(release.document_keys)}
    concerned = {place for place in known if _is_about_tools(place)}

    assert len(concerned) > 400
    assert [place for place in sorted(concerned) if not _has_a_line(place)] == []
    assert [place for place in ENFORCEMENT if place not in known] == []
    assert [row[:2] for row in rows("## Keys of the document")] == [
        [f"`{key}`", how] for key, how in ENFORCEMENT.items()
    ]
    assert all(row[2] for row in rows("## Keys of the document"))
