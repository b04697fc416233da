"""Publish, roll back, discard: what is live is signed, appended, and never overwritten by accident."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from apps.policies import snapshots
from apps.policies.compiler import compile_draft
from apps.policies.errors import PublicationConflictError, PublicationRefusedError, SnapshotUntrustedError
from apps.policies.models import Agent, Publication, StoredSnapshot
from apps.policies.selectors import (
    agent_get,
    document_export,
    draft_change_count,
    draft_changes,
    draft_snapshot,
    live_publication,
    live_snapshot,
    publications,
)
from apps.policies.services import document_import, draft_discard, publish, record_update, rollback

SAMPLE = Path(__file__).parent.parent / "samples" / "openclaw.full.json5"

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(environment: Any) -> Any:
    document_import(environment, SAMPLE.read_text(), by=None)
    return environment


@pytest.fixture
def first(draft: Any, admin: Any) -> Publication:
    return publish(draft, by=admin, message="the beginning", expected_live="")


def change(environment: Any, by: Any, **fields: Any) -> Any:
    agent = agent_get(environment, "ops")
    assert agent is not None
    return record_update(agent, fields, by=by, expected_version=agent.version)


def test_nothing_is_live_before_the_first_publication(draft: Any) -> None:
    assert live_publication(draft) is None
    assert live_snapshot(draft) is None


def test_a_publication_makes_the_draft_live(first: Publication, draft: Any, admin: Any) -> None:
    live = live_snapshot(draft)
    assert live is not None and live.digest == first.snapshot_id == draft_snapshot(draft).digest
    assert (first.number, first.actor, first.published_by) == (1, "user:admin", admin)


def test_a_stale_reviewer_is_told_what_is_live(first: Publication, draft: Any, admin: Any) -> None:
    with pytest.raises(PublicationConflictError) as caught:
        publish(draft, by=admin, message="mine", expected_live="")
    assert caught.value.live == first.snapshot_id
    assert publications(draft).count() == 1


def test_every_reason_for_a_refusal_is_named_at_once(environment: Any, admin: Any) -> None:
    with pytest.raises(PublicationRefusedError) as caught:
        publish(environment, by=admin, message="  ", expected_live="")
    assert [detail["code"] for detail in caught.value.details] == ["required", "no_draft", "no_agent"]
    assert not publications(environment).exists()


def test_a_rollback_is_one_more_publication(first: Publication, draft: Any, admin: Any) -> None:
    change(draft, admin, deny=["exec"])
    second = publish(draft, by=admin, message="no exec", expected_live=first.snapshot_id)
    again = rollback(draft, first, by=admin, message="too strict", expected_live=second.snapshot_id)
    assert (again.number, again.rollback_of, again.snapshot_id) == (3, first, first.snapshot_id)
    assert [row.number for row in publications(draft)] == [3, 2, 1]
    live = live_snapshot(draft)
    assert live is not None and live.digest == first.snapshot_id


def test_after_a_rollback_the_draft_still_holds_the_change(first: Publication, draft: Any, admin: Any) -> None:
    change(draft, admin, deny=["exec"])
    second = publish(draft, by=admin, message="no exec", expected_live=first.snapshot_id)
    assert draft_changes(draft) == []
    rollback(draft, first, by=admin, message="too strict", expected_live=second.snapshot_id)
    assert [(item.label, item.field) for item in draft_changes(draft)] == [("agents.entries.ops", "deny")]


def test_a_rollback_to_what_is_live_is_refused(first: Publication, draft: Any, admin: Any) -> None:
    with pytest.raises(PublicationRefusedError):
        rollback(draft, first, by=admin, message="again", expected_live=first.snapshot_id)


def test_a_discarded_draft_is_what_was_published(first: Publication, draft: Any, admin: Any) -> None:
    published = document_export(draft, secrets="open")
    change(draft, admin, deny=["exec"])
    Agent.objects.filter(environment=draft, key="main").delete()
    draft_discard(draft, by=admin)
    assert document_export(draft, secrets="open") == published
    assert draft_snapshot(draft).digest == first.snapshot_id


@pytest.mark.parametrize("statement", ["UPDATE {} SET {} = 'x'", "DELETE FROM {}"])
def test_publications_and_snapshots_are_only_ever_added(first: Publication, statement: str) -> None:
    for model, column in ((Publication, "message"), (StoredSnapshot, "dialect")):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement.format(model._meta.db_table, column))


def test_a_snapshot_with_another_signature_is_not_used(draft: Any, admin: Any, first: Publication) -> None:
    snapshots._loaded.clear()
    content = bytes(first.snapshot.content).replace(b'"exec"', b'"read"', 1)
    digest = hashlib.sha256(content).hexdigest()
    StoredSnapshot.objects.create(
        digest=digest,
        environment=draft,
        content=content,
        signature=bytes(first.snapshot.signature),
        key_id=first.snapshot.key_id,
        format=1,
        dialect="2026.9",
    )
    with pytest.raises(SnapshotUntrustedError, match="signature"):
        snapshots.snapshot_loaded(digest)


def test_content_that_is_not_its_digest_is_not_even_stored(draft: Any) -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        StoredSnapshot.objects.create(
            digest="0" * 64, environment=draft, content=b"{}", signature=b"", key_id="", format=1, dialect="2026.9"
        )


def test_the_same_rows_give_the_same_bytes(draft: Any) -> None:
    assert compile_draft(draft).to_bytes() == compile_draft(draft).to_bytes()


def test_a_live_snapshot_in_memory_costs_one_query(
    first: Publication, draft: Any, django_assert_num_queries: Any
) -> None:
    live_snapshot(draft)
    with django_assert_num_queries(1):
        live_snapshot(draft)


def test_an_unchanged_draft_is_compiled_once(draft: Any, django_assert_num_queries: Any) -> None:
    draft_snapshot(draft)
    with django_assert_num_queries(1):
        draft_snapshot(draft)


def test_changes_name_record_field_both_values_and_person(first: Publication, draft: Any, operator: Any) -> None:
    change(draft, operator, deny=["exec", "process"])
    (item,) = draft_changes(draft)
    assert (item.action, item.kind, item.label, item.field) == ("changed", "agent", "agents.entries.ops", "deny")
    assert (item.before, item.after, item.actor) == (None, ["exec", "process"], "user:operator")


def test_what_was_changed_and_changed_back_is_no_change(first: Publication, draft: Any, operator: Any) -> None:
    change(draft, operator, deny=["exec"])
    change(draft, operator, deny=None)
    assert draft_changes(draft) == []


def test_another_document_and_then_the_first_again_is_no_change(first: Publication, draft: Any) -> None:
    document_import(draft, '{"agents": {"entries": {"other": {}}}}', by=None)
    assert draft_changes(draft) != []

    document_import(draft, SAMPLE.read_text(), by=None)

    assert draft_changes(draft) == []


def test_a_record_made_again_with_another_value_is_one_change(first: Publication, draft: Any) -> None:
    document_import(draft, '{"agents": {"entries": {"other": {}}}}', by=None)
    document_import(draft, SAMPLE.read_text().replace("name:Bob", "name:Rob"), by=None)

    assert {(item.action, item.label) for item in draft_changes(draft)} == {
        ("deleted", "tools.toolsBySender.name:Bob"),
        ("created", "tools.toolsBySender.name:Rob"),
    }


def test_raw_writes_cannot_escape_the_change_log(first: Publication, draft: Any) -> None:
    Agent.objects.filter(environment=draft, key="ops").update(profile="full")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM policies_senderrule WHERE key = 'name:Bob'")
    found = {(item.action, item.label, item.field) for item in draft_changes(draft)}
    assert found == {
        ("changed", "agents.entries.ops", "profile"),
        ("deleted", "tools.toolsBySender.name:Bob", ""),
    }
    assert draft_change_count(draft) == 2
