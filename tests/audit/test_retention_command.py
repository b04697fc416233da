"""`manage.py retention`: what an administrator of the machine may do about the end of records."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.audit.models import Content, Entry
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id
from tests.audit.drafts import intent, outcome

pytestmark = pytest.mark.django_db(transaction=True)


def said(*words: Any) -> str:
    output = StringIO()
    call_command("retention", *words, stdout=output)
    return output.getvalue().strip()


def test_records_are_kept_previewed_held_and_purged() -> None:
    entry_record(intent(at=datetime.now(UTC) - timedelta(days=50)))
    assert "for ever" in said("show")
    with pytest.raises(CommandError, match="at least 30"):
        said("set", "calls", "29")
    said("set", "calls", "40")
    assert said("preview", "calls").startswith("1 records")
    hold = said("hold", "--reason", "case 7", "--sender", "7")
    assert "case 7" in said("holds") and said("preview", "calls").endswith("1 are held")
    assert said("purge", "calls").startswith("0 records")
    said("lift", hold, "--reason", "closed")
    assert said("purge", "calls").startswith("1 records")
    assert Entry.objects.filter(kind="call_intent").count() == 0


def test_a_subject_is_previewed_and_erased() -> None:
    call_id = new_id()
    entry_record(intent(call_id, params={"a": 1}))
    entry_record(outcome(call_id, result={"a": 1}))
    subject = ("--channel", "telegram", "--sender", "7")
    assert "contents of entries: 2" in said("erase", *subject, "--preview")
    assert Content.objects.filter(call_id=call_id).count() == 2
    with pytest.raises(CommandError, match="reason: "):
        said("erase", *subject)
    assert "2 contents erased\nvacuumed: " in said("erase", *subject, "--reason", "asked to")
    assert Content.objects.filter(call_id=call_id).count() == 0
