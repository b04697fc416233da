"""The table of differences between the releases."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import pytest

from apps.firewall.engine.dialect import DEFAULT_RELEASE, DIALECTS, Dialect, UnknownDialectError, dialect_named

VECTORS = Path(__file__).parents[2] / "conformance"

TABLES: Final[dict[str, Callable[[Dialect], Any]]] = {
    "core_tool_catalog": lambda dialect: [
        (tool.name, tool.section, list(tool.profiles), tool.in_openclaw_group) for tool in dialect.catalogue
    ],
    "tool_groups": lambda dialect: {group: list(members) for group, members in dialect.groups.items()},
    "tool_group_order": lambda dialect: list(dialect.groups),
    "profile_policies": lambda dialect: {name: asdict(policy) for name, policy in dialect.profiles.items()},
    "tool_name_aliases": lambda dialect: dict(dialect.aliases),
    "subagent_deny_always": lambda dialect: list(dialect.subagent_deny_always),
    "subagent_deny_leaf": lambda dialect: list(dialect.subagent_deny_leaf),
    "owner_only_tools": lambda dialect: list(dialect.owner_only),
    "sandbox_default_allow": lambda dialect: list(dialect.sandbox_allow),
    "sandbox_default_deny": lambda dialect: list(dialect.sandbox_deny),
    "gateway_http_default_deny": lambda dialect: list(dialect.gateway_http_deny),
    "section_order": lambda dialect: [{"id": key, "label": label} for key, label in dialect.sections.items()],
    "shipped_renames": lambda dialect: {"renames": dict(dialect.renames), "families": dict(dialect.families)},
    "message_provider_tool_policy": lambda dialect: {
        "deny": dict(dialect.message_provider_deny),
        "allow": dict(dialect.message_provider_allow),
    },
    "channel_aliases": lambda dialect: dict(dialect.channel_aliases),
    "resolver_location": lambda dialect: dict(dialect.resolver_location),
}


def _dumps() -> dict[str, dict[str, Any]]:
    files = (VECTORS / "profiles.jsonl", VECTORS / "group_policy_channels.jsonl")
    rows = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    return {row["input"]["what"]: row for row in rows if row["kind"] == "dump"}


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("release", DIALECTS)
@pytest.mark.parametrize("table", TABLES)
def test_reference_tables_are_the_recorded_ones(table: str, release: str) -> None:
    row = _dumps()[table]
    if release not in row.get("versions", DIALECTS):
        return
    recorded = row.get("expect_2026_2", row["expect"]) if release == "2026.2" else row["expect"]
    if table == "core_tool_catalog":
        recorded = [[t["id"], t["section"], t["profiles"], t["includeInOpenClawGroup"]] for t in recorded]
    assert _as_json(TABLES[table](dialect_named(release))) == recorded


def test_every_recorded_table_is_checked() -> None:
    assert _dumps().keys() == TABLES.keys()


def test_the_newer_release_is_the_default() -> None:
    assert DEFAULT_RELEASE == "2026.9"
    assert list(DIALECTS) == ["2026.9", "2026.2"]


def test_an_unknown_release_is_refused_by_name() -> None:
    with pytest.raises(UnknownDialectError, match=r"`2025\.1`"):
        dialect_named("2025.1")


@pytest.mark.parametrize("release", DIALECTS)
def test_reference_tables_agree_with_one_another(release: str) -> None:
    dialect = dialect_named(release)
    tools = {tool.name for tool in dialect.catalogue}
    assert {tool.section for tool in dialect.catalogue} == set(dialect.sections)
    assert {name for members in dialect.groups.values() for name in members} <= tools
    assert set(dialect.aliases.values()) <= tools
    assert set(dialect.sandbox_allow) <= tools


@pytest.mark.parametrize("release", DIALECTS)
def test_reference_tables_cannot_be_changed(release: str) -> None:
    dialect = dialect_named(release)
    with pytest.raises(TypeError):
        dialect.aliases["sh"] = "exec"  # type: ignore[index]
