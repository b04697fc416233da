"""Labelled queries: added, merged, removed, written as lines and read back."""

import json
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.errors import PermissionDeniedError
from apps.audit.models import Entry
from apps.firewall.identifiers import new_id
from apps.runs import labels
from apps.runs.errors import LabelError
from apps.runs.models import SearchLabel

pytestmark = pytest.mark.django_db


def add(environment: Any, query: str, *tools: str, by: Any = None) -> SearchLabel:
    return labels.label_add(environment, query, tools, by=by, at=timezone.now())


def told(query: str) -> list[tuple[str, list[str]]]:
    """What the ledger says of a query; it outlives tests, so each asks about its own words."""
    entries = Entry.objects.filter(kind="search_label", changes__query=query).order_by("seq")
    return [(each.status, (each.changes or {})["tools"]) for each in entries]


@pytest.fixture
def query() -> str:
    return f"look at {new_id().hex}"


def test_a_query_means_all_the_tools_that_people_named_for_it(published: Any, admin: Any, query: str) -> None:
    add(published, query, "read", by=admin)
    label = add(published, f"  {query.replace(' ', '  ')}\t", "exec", "read", by=admin)

    assert (label.query, label.tools, label.added_by) == (query, ["read", "exec"], "user:admin")
    assert SearchLabel.objects.count() == 1
    assert told(query) == [("added", ["read"]), ("added", ["read", "exec"])]


def test_adding_it_again_changes_and_records_nothing(published: Any, query: str) -> None:
    add(published, query, "read")
    add(published, query, "read")

    assert told(query) == [("added", ["read"])]


@pytest.mark.parametrize(
    ("query", "tools", "path"),
    [
        ("", ["read"], "query"),
        ("x" * 513, ["read"], "query"),
        ("look", [], "tools"),
        ("look", ["raed"], "tools"),
        ("look", [f"t{n}" for n in range(21)], "tools"),
    ],
)
def test_a_mistake_is_named_with_its_field(published: Any, query: str, tools: list[str], path: str) -> None:
    with pytest.raises(LabelError) as refused:
        add(published, query, *tools)

    assert refused.value.details[0]["path"] == path
    assert not SearchLabel.objects.exists()


def test_a_misspelt_tool_is_answered_with_what_was_meant(published: Any) -> None:
    with pytest.raises(LabelError, match="mistakes") as refused:
        add(published, "look", "raed")

    assert "`read`" in refused.value.details[0]["message"]


def test_who_may_not_change_policy_may_not_label(published: Any, viewer: Any) -> None:
    label = add(published, "look", "read")

    with pytest.raises(PermissionDeniedError):
        add(published, "look", "exec", by=viewer)
    with pytest.raises(PermissionDeniedError):
        labels.label_remove(label, by=viewer)
    assert SearchLabel.objects.get().tools == ["read"]


def test_a_removed_label_is_gone_and_on_record_once(published: Any, admin: Any, query: str) -> None:
    label = add(published, query, "read")
    labels.label_remove(label, by=admin)
    labels.label_remove(label, by=admin)

    assert not SearchLabel.objects.exists()
    assert told(query) == [("added", ["read"]), ("removed", ["read"])]


def test_lines_that_were_written_are_read_back(published: Any) -> None:
    add(published, "look at a file", "read", "exec")
    add(published, "查看文件", "read")
    lines = list(labels.labels_export(published))
    SearchLabel.objects.all().delete()

    assert labels.labels_import(published, lines, by=None, at=timezone.now()) == 2
    assert list(labels.labels_export(published)) == lines
    assert labels.labels_import(published, lines, by=None, at=timezone.now()) == 0
    assert json.loads(lines[1]) == {"query": "查看文件", "tools": ["read"]}


def test_one_bad_line_keeps_all_out_and_every_mistake_is_named(published: Any) -> None:
    lines = [
        '{"query": "look", "tools": ["read"]}',
        "",
        "no json",
        '{"query": "x", "tools": ["nothing_of_ours"]}',
        "[]",
    ]

    with pytest.raises(LabelError) as refused:
        labels.labels_import(published, lines, by=None, at=timezone.now())

    assert [each["path"] for each in refused.value.details] == ["line 3", "line 4.tools", "line 5"]
    assert not SearchLabel.objects.exists()


def test_their_number_is_bounded(published: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "LABELS_MOST", 1)
    add(published, "look", "read")

    with pytest.raises(LabelError, match="at most 1"):
        add(published, "see", "read")
    assert SearchLabel.objects.count() == 1
