"""A store that is slow makes callers wait, says so, and loses nothing."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.utils import timezone

from apps.audit.metrics import ledger_metrics
from apps.audit.models import Entry
from apps.audit.services import entry_record
from apps.audit.verification import verify_chains
from apps.audit.writer import writer
from openclaw_admin import health
from tests import database
from tests.audit.drafts import intent

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("fresh_writer")]


def until(claim: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not claim():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_callers_wait_for_a_slow_store_and_health_and_figures_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    first = entry_record(intent())
    assert writer().pressure.waiting == 0
    with ThreadPoolExecutor(8) as callers:
        with database.owner_connection() as owner, owner.transaction():
            owner.execute("LOCK TABLE audit_boot IN EXCLUSIVE MODE")
            calls = [callers.submit(entry_record, intent()) for _ in range(8)]
            until(lambda: writer().pressure.waiting == 8 and writer().pressure.oldest_s > 0.2)
            assert not any(call.done() for call in calls)
            assert "8 wait, the first for" in health.writer()
            assert ledger_metrics(timezone.now()).pressure.waiting == 8
            monkeypatch.setattr(health, "WRITER_LATE_S", 0.1)
            with pytest.raises(health.NotReadyError, match="8 wait"):
                health.writer()
        receipts = [call.result(60) for call in calls]
    until(lambda: writer().pressure.waiting == 0)
    assert sorted(receipt.seq for receipt in receipts) == list(range(2, 10))
    assert health.writer().startswith("writes: 0 wait")
    assert Entry.objects.filter(chain_id=first.chain_id).count() == 9
    assert verify_chains(chain_ids=[first.chain_id]).is_intact
    connection.close()
