"""The preview of another release is what speaking it would give, and changes nothing itself."""

from pathlib import Path
from typing import Any

import pytest

from apps.firewall.engine.dialect import UnknownDialectError
from apps.firewall.tools.definition import Definition
from apps.policies.selectors import draft_snapshot
from apps.policies.services import document_import
from apps.policies.upgrading import draft_read_as, draft_upgrade, releases_beside
from apps.registry.errors import ToolInvalidError
from apps.registry.models import Environment, Tool
from apps.registry.services import environment_set_dialect, plugin_save, tool_set_state, tools_import

SAMPLE = Path(__file__).parent.parent / "samples" / "openclaw.full.json5"
pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(environment: Any) -> Any:
    document_import(environment, SAMPLE.read_text(), by=None)
    tools_import(environment, [Definition(name="lamp_set")], source="plugin", plugin=plugin_save(environment, key="l"))
    return environment


@pytest.mark.parametrize("way", [("2026.9", "2026.2"), ("2026.2", "2026.9")])
def test_it_is_the_snapshot_that_the_release_gives(draft: Any, admin: Any, way: tuple[str, str]) -> None:
    draft = environment_set_dialect(draft, dialect=way[0], by=admin)
    tool_set_state(Tool.objects.get(environment=draft, name="exec"), state="disabled", by=admin)
    before, preview = draft_read_as(draft, way[1])
    assert (before.dialect, preview.dialect) == way
    assert Environment.objects.get(pk=draft.pk).dialect == way[0]

    changed = environment_set_dialect(draft, dialect=way[1], by=admin)

    assert draft_snapshot(changed).digest == preview.digest


def test_looking_writes_nothing(draft: Any) -> None:
    before = draft_snapshot(draft).digest
    draft_upgrade(draft, "2026.2")
    assert draft_snapshot(Environment.objects.get(pk=draft.pk)).digest == before


def test_causes_and_commands_are_told(draft: Any) -> None:
    assert {share.cause for share in draft_upgrade(draft, "2026.2").shares} >= {"catalogue", "sender_layer"}
    document_import(draft, '{"agents": {"entries": {"bot": {}}}}', by=None)
    commands = draft_upgrade(draft, "2026.2").commands
    assert {agent for change in commands for agent in change.agents} == {"bot", "*"}


def test_the_same_release_changes_nothing(draft: Any) -> None:
    assert draft_upgrade(draft, draft.dialect).is_empty
    assert releases_beside(draft) == ("2026.2",)


def test_a_name_that_is_taken_is_named(draft: Any) -> None:
    tools_import(draft, [Definition(name="image")], source="plugin", plugin=plugin_save(draft, key="c"))
    with pytest.raises(ToolInvalidError):
        draft_upgrade(draft, "2026.2")


def test_an_unknown_release_is_refused(draft: Any) -> None:
    with pytest.raises(UnknownDialectError):
        draft_upgrade(draft, "2025.1")
