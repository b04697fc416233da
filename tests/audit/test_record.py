"""Storing entries: durable, chained, refused together with its cause."""

import threading
from datetime import UTC, datetime
from uuid import UUID

import pytest

from apps.audit.chain import genesis
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.models import Boot, Content, Entry
from apps.audit.services import entry_record, entry_record_async
from apps.audit.writer import Writer
from apps.firewall.identifiers import new_id

pytestmark = pytest.mark.django_db


def intent(call_id: UUID | None = None, **fields: object) -> EntryDraft:
    return EntryDraft(kind=EntryKind.CALL_INTENT, call_id=call_id or new_id(), agent="bot", tool="read", **fields)  # type: ignore[arg-type]


def test_an_entry_is_stored_with_its_content_when_recording_returns() -> None:
    receipt = entry_record(intent(params={"path": "notes.txt"}, at=datetime(2026, 11, 20, tzinfo=UTC)))
    stored = Entry.objects.get(id=receipt.id)
    assert (stored.kind, stored.agent, stored.tool, stored.seq) == ("call_intent", "bot", "read", receipt.seq)
    assert Content.objects.get(entry_id=receipt.id).params == {"path": "notes.txt"}
