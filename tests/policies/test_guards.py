"""Grants of permissions and content filters: records of the draft like all others, and a document of their own."""

import json
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from apps.firewall.identifiers import new_id, show_id
from apps.firewall.tools.definition import Definition
from apps.policies.errors import ConflictError, DocumentInvalidError, RecordInvalidError
from apps.policies.models import ContentFilter, PermissionGrant
from apps.policies.selectors import (
    content_filters,
    draft_changes,
    draft_snapshot,
    guards_export,
    lint,
    live_snapshot,
    permission_grants,
    record_history,
    record_path,
)
from apps.policies.services import (
    agent_create,
    content_filter_create,
    document_check,
    document_import,
    draft_discard,
    draft_start,
    permission_grant_create,
    publish,
    record_delete,
    record_update,
    rollback,
)
from apps.registry.models import ToolSource
from apps.registry.services import tools_import

pytestmark = pytest.mark.django_db

ORDERS = Definition(
    name="orders_query",
    description="Reads orders.",
    permissions=("db:read",),
    resources={"database": "database"},
    parameters={"type": "object", "properties": {"database": {"type": "string"}}},
)


@pytest.fixture
def draft(environment: Any, admin: Any) -> Any:
    draft_start(environment, by=admin)
    agent_create(environment, "dispatch", by=admin)
    tools_import(environment, [ORDERS], source=ToolSource.CLIENT, by=admin)
    return environment


@pytest.fixture
def reading(draft: Any, admin: Any) -> PermissionGrant:
    return permission_grant_create(
        draft,
        "dispatch reads orders",
        by=admin,
        permissions=["db:read"],
        agent="Dispatch",
        resources={"database": ["orders"]},
    )


def test_they_are_compiled_into_the_snapshot(draft: Any, reading: PermissionGrant, admin: Any) -> None:
    content_filter_create(draft, "cards", by=admin, pattern=r"\d{16}", tools=["orders_*"], action="block")

    snapshot = draft_snapshot(draft)

    (grant,) = snapshot.permissions.grants
    assert (grant.agent, grant.permissions, grant.resources) == ("dispatch", ("db:read",), {"database": ("orders",)})
    (content,) = snapshot.content.filters
    assert (content.key, content.tools, content.action) == ("cards", ("orders_*",), "block")


def test_the_same_rows_give_the_same_bytes(draft: Any, reading: PermissionGrant, admin: Any) -> None:
    before = draft_snapshot(draft)
    record_delete(reading, by=admin, expected_version=1)
    fields = {"permissions": ["db:read"], "agent": "Dispatch", "resources": {"database": ["orders"]}}
    permission_grant_create(draft, "dispatch reads orders", by=admin, **fields)

    assert draft_snapshot(draft).to_bytes() == before.to_bytes()


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"permissions": ["db:read"]}, "__all__"),
        ({"permissions": [], "agent": "*"}, "permissions"),
        ({"permissions": ["DB read"], "agent": "*"}, "permissions"),
        ({"permissions": ["db:read"], "token": "tok_?"}, "token"),
        ({"permissions": ["db:read"], "sender": "anna"}, "sender"),
        ({"permissions": ["db:read"], "role": "king"}, "role"),
        ({"permissions": ["db:read"], "agent": "*", "resources": {"moon": ["x"]}}, "resources"),
        ({"permissions": ["db:read"], "agent": "*", "resources": {"path": []}}, "resources"),
        ({"permissions": ["db:read"], "agent": "*", "resources": {"path": ["/srv/../etc"]}}, "resources"),
        ({"permissions": ["db:read"], "agent": "*", "resources": {"path": [7]}}, "resources"),
    ],
)
def test_a_grant_with_a_mistake_is_refused_at_its_field(
    draft: Any, admin: Any, fields: dict[str, Any], path: str
) -> None:
    with pytest.raises(RecordInvalidError) as refused:
        permission_grant_create(draft, "g", by=admin, **fields)

    assert (path if path != "__all__" else "") in {detail["path"] for detail in refused.value.details}
    assert not permission_grants(draft).exists()


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"pattern": "(a+)+"}, "pattern"),
        ({"pattern": "a*"}, "pattern"),
        ({"pattern": ""}, "pattern"),
        ({"pattern": "a", "where": "moon"}, "where"),
        ({"pattern": "a", "action": "eat"}, "action"),
    ],
)
def test_a_filter_with_a_mistake_is_refused_at_its_field(
    draft: Any, admin: Any, fields: dict[str, Any], path: str
) -> None:
    with pytest.raises(RecordInvalidError) as refused:
        content_filter_create(draft, "f", by=admin, **fields)

    assert path in {detail["path"] for detail in refused.value.details}
    assert not content_filters(draft).exists()


@pytest.mark.parametrize("key", ["", "a]b", "x" * 65])
def test_a_name_stays_one_that_can_stand_in_a_mark(draft: Any, admin: Any, key: str) -> None:
    with pytest.raises(RecordInvalidError):
        content_filter_create(draft, key, by=admin, pattern="a")


def test_the_table_holds_no_grant_for_nobody(reading: PermissionGrant) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        PermissionGrant.objects.filter(pk=reading.pk).update(agent="")


def test_the_slower_of_two_editors_sees_both_sides(reading: PermissionGrant, admin: Any, operator: Any) -> None:
    record_update(reading, {"resources": {}}, by=admin, expected_version=1)

    with pytest.raises(ConflictError) as conflict:
        record_update(reading, {"resources": {"database": ["hr"]}}, by=operator, expected_version=1)

    assert conflict.value.fields["resources"].theirs == {}
    assert [entry.action for entry in record_history(reading)] == ["update", "insert"]


def test_the_review_names_what_changed_and_where(draft: Any, reading: PermissionGrant, admin: Any) -> None:
    publish(draft, by=admin, message="first", expected_live="")
    record_update(reading, {"permissions": ["db:*"]}, by=admin, expected_version=1)

    (change,) = draft_changes(draft)

    assert (change.kind, change.field, change.before, change.after) == (
        "permission_grant",
        "permissions",
        ["db:read"],
        ["db:*"],
    )
    assert change.label == 'permissionGrants["dispatch reads orders"]' == record_path(reading)


def test_discarding_and_rolling_back_bring_back_what_was_published(
    draft: Any, reading: PermissionGrant, admin: Any
) -> None:
    first = publish(draft, by=admin, message="first", expected_live="")
    record_delete(reading, by=admin, expected_version=1)
    content_filter_create(draft, "cards", by=admin, pattern=r"\d{16}")
    second = publish(draft, by=admin, message="second", expected_live=first.snapshot_id)

    rollback(draft, first, by=admin, message="back", expected_live=second.snapshot_id)
    draft_discard(draft, by=admin)

    live = live_snapshot(draft)
    assert live is not None and [grant.key for grant in live.permissions.grants] == ["dispatch reads orders"]
    assert draft_snapshot(draft) == live
    assert not ContentFilter.objects.exists()


# --- the document ---


def test_the_document_comes_back_as_it_was(draft: Any, reading: PermissionGrant, admin: Any) -> None:
    content_filter_create(draft, "cards", by=admin, pattern=r"\d{16}", action="warn", message="no cards please")
    written, before = guards_export(draft), draft_snapshot(draft)

    report = document_import(draft, None, by=admin, guards=json.dumps(written))

    assert report.counts == {"created": 0, "changed": 0, "deleted": 0, "unchanged": 2}
    PermissionGrant.objects.all().delete()
    ContentFilter.objects.all().delete()
    document_import(draft, None, by=admin, guards=json.dumps(written))
    assert (guards_export(draft), draft_snapshot(draft)) == (written, before)


def test_what_the_document_leaves_out_goes_and_other_documents_leave_it_alone(
    draft: Any, reading: PermissionGrant, admin: Any
) -> None:
    document_import(draft, '{"agents": {"entries": {"dispatch": {}}}}', by=admin)
    assert permission_grants(draft).count() == 1

    document_import(draft, None, by=admin, guards="{}")
    assert permission_grants(draft).count() == 0


def test_every_mistake_of_a_document_is_named_and_nothing_changes(
    draft: Any, reading: PermissionGrant, admin: Any
) -> None:
    document = {
        "permissionGrant": {},
        "permissionGrants": {"a": {"permissions": ["db:read"]}, "b": {"permisions": []}, "c": 7},
        "contentFilters": {"d": {"pattern": "(a+)+"}, "e": {}, "f": {"pattern": 1}},
    }

    with pytest.raises(DocumentInvalidError) as refused:
        document_import(draft, None, by=admin, guards=json.dumps(document))

    assert {detail["path"] for detail in refused.value.details} == {
        "guards:permissionGrant",
        "guards:permissionGrants.a",
        "guards:permissionGrants.b.permisions",
        "guards:permissionGrants.c",
        "guards:contentFilters.d.pattern",
        "guards:contentFilters.e.pattern",
        "guards:contentFilters.f.pattern",
    }
    assert [item.path for item in document_check(draft, None, guards="[]")] == ["guards:"]
    assert permission_grants(draft).count() == 1


# --- the lint ---


def codes(environment: Any) -> set[tuple[str, str]]:
    return {(finding.code, finding.path) for finding in lint(environment)}


def test_a_tool_whose_permission_nobody_has_is_named(draft: Any, admin: Any) -> None:
    (finding,) = lint(draft)

    assert (finding.code, finding.severity) == ("permission_not_granted", "warning")
    assert finding.message == "nobody has `db:read`, which `orders_query` needs: it cannot run"


def test_a_sensible_grant_has_no_findings(draft: Any, reading: PermissionGrant) -> None:
    assert codes(draft) == set()


def test_a_grant_that_reaches_nobody_or_nothing_is_named(draft: Any, reading: PermissionGrant, admin: Any) -> None:
    place = 'permissionGrants["dispatch reads orders"]'
    changes = {"agent": "dispach", "permissions": ["db:read", "moon:land"], "resources": {"path": ["/srv/**"]}}
    record_update(reading, changes, by=admin, expected_version=1)
    unknown = show_id("tok", new_id())
    permission_grant_create(draft, "t", by=admin, permissions=["db:*"], token=unknown)
    permission_grant_create(draft, "a", by=admin, permissions=["db:*"], agent="x*")

    assert codes(draft) == {
        ("grant_for_nobody", place),
        ("permission_unasked", place),
        ("limit_without_resource", place),
        ("grant_for_nobody", "permissionGrants.t"),
        ("grant_for_nobody", "permissionGrants.a"),
    }
    assert sum(finding.record == reading.pk for finding in lint(draft)) == 3


def test_a_filter_for_no_tool_is_named(draft: Any, reading: PermissionGrant, admin: Any) -> None:
    content_filter_create(draft, "cards", by=admin, pattern=r"\d{16}", tools=["orders_query", "zzz_*", "*"])

    assert codes(draft) == {("matches_nothing", "contentFilters.cards")}
