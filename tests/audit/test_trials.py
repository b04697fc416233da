"""Trying whether the ledger takes an entry: nothing stays, and the chain goes on."""

import pytest

from apps.audit.drafts import EntryDraft
from apps.audit.models import Entry
from apps.audit.services import entry_record
from apps.audit.verification import verify_chains
from apps.audit.writer import writer

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_trial_says_that_the_ledger_takes_entries_and_leaves_none(empty_ledger: None) -> None:
    first = entry_record(EntryDraft(kind="backup"))
    for _ in range(3):
        writer().ask_trial().result(60)
    second = entry_record(EntryDraft(kind="backup"))
    assert (second.chain_id, second.seq) == (first.chain_id, first.seq + 1)
    assert Entry.objects.count() == 2
    assert verify_chains().problems == []


def test_a_trial_opens_the_chain_of_a_process_that_wrote_nothing_yet(empty_ledger: None) -> None:
    writer().ask_trial().result(60)
    assert Entry.objects.count() == 0
    assert entry_record(EntryDraft(kind="backup")).seq == 1
