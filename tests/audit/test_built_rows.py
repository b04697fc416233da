"""Rows that benchmarks and tests of many entries are built from."""

from datetime import UTC, datetime

import pytest

from apps.audit.models import Boot, Entry
from apps.audit.verification import verify_chains
from bench._audit_rows import build
from tests import database

UNTIL = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_built_entries_verify_and_are_the_same_from_one_process_or_two() -> None:
    first = build(database.application_address(), entries=1_500, until=UNTIL, chains=4, processes=1)
    report = verify_chains(chain_ids=[built.chain_id for built in first])
    assert report.is_intact, report.problems
    assert (report.chains, report.entries) == (4, 1_500)
    kinds = set(Entry.objects.values_list("kind", flat=True))
    assert {"call_intent", "call_outcome", "denial", "approval_asked", "approval_answered"} <= kinds
    assert not Boot.objects.filter(swept_at=None).exists()

    database.empty_ledger()
    second = build(database.application_address(), entries=1_500, until=UNTIL, chains=4, processes=2)
    assert sorted(first, key=lambda built: built.chain_id) == second
