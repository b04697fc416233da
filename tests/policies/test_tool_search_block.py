"""`tools.toolSearch`: checked, kept as it is, and carried by the published snapshot."""

import json
from typing import Any

import pytest

from apps.firewall.engine.snapshot import load_snapshot
from apps.policies.compiler import compile_draft
from apps.policies.selectors import document_export, draft_changes
from apps.policies.services import document_check, document_import

pytestmark = pytest.mark.django_db


def found(environment: Any, block: object) -> list[tuple[str, str, str]]:
    items = document_check(environment, json.dumps({"tools": {"toolSearch": block}}))
    return [(item.path, item.code, item.severity) for item in items if item.severity != "info"]


@pytest.mark.parametrize(
    "block",
    [
        True,
        False,
        {},
        {"enabled": False},
        {"mode": "directory", "codeTimeoutMs": 1000, "searchDefaultLimit": 50, "maxSearchLimit": 50},
    ],
)
def test_a_block_that_is_understood_comes_back_and_reaches_the_snapshot(environment: Any, block: object) -> None:
    assert found(environment, block) == []
    document_import(environment, json.dumps({"tools": {"toolSearch": block}}), by=None)

    snapshot = compile_draft(environment)

    assert document_export(environment)["tools"]["toolSearch"] == block
    assert load_snapshot(snapshot.to_bytes(), expected_digest=snapshot.digest).engine.settings["toolSearch"] == block


@pytest.mark.parametrize(
    ("block", "field"),
    [
        ({"codeTimeoutMs": 999}, "codeTimeoutMs"),
        ({"codeTimeoutMs": 60_001}, "codeTimeoutMs"),
        ({"maxSearchLimit": 0}, "maxSearchLimit"),
        ({"maxSearchLimit": 51}, "maxSearchLimit"),
        ({"searchDefaultLimit": 0}, "searchDefaultLimit"),
        ({"searchDefaultLimit": 21}, "searchDefaultLimit"),
        ({"searchDefaultLimit": 9, "maxSearchLimit": 8}, "searchDefaultLimit"),
    ],
)
def test_what_will_be_brought_into_range_is_a_warning_and_is_taken(
    environment: Any, block: dict[str, int], field: str
) -> None:
    assert found(environment, block) == [(f"tools.toolSearch.{field}", "out_of_range", "warning")]

    document_import(environment, json.dumps({"tools": {"toolSearch": block}}), by=None)

    assert document_export(environment)["tools"]["toolSearch"] == block


def test_a_misspelt_member_and_mode_come_with_a_suggestion(environment: Any) -> None:
    document = {"tools": {"toolSearch": {"maxSerchLimit": 5, "mode": "tols"}}}

    member, mode = (item for item in document_check(environment, json.dumps(document)) if item.severity == "error")

    assert member.message.endswith("did you mean `maxSearchLimit`?")
    assert mode.message == "`tols` is none of tools, directory, code, did you mean `tools`?"


def test_a_change_of_it_is_told_among_those_of_the_draft(environment: Any) -> None:
    document_import(environment, json.dumps({"tools": {"toolSearch": {"mode": "tools"}}}), by=None)

    told = [change.after for change in draft_changes(environment) if change.kind == "global"]

    assert "toolSearch" in json.dumps(told)


def test_a_snapshot_of_a_document_without_it_says_nothing_of_it(environment: Any) -> None:
    document_import(environment, json.dumps({"tools": {"deny": ["exec"]}}), by=None)

    assert "toolSearch" not in compile_draft(environment).engine.settings
