"""A month in which nothing is left gives its room back; its signed statements let the chains verify over the gap."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from apps.audit.models import Entry
from apps.audit.retention.classes import retention_set
from apps.audit.retention.holds import hold_lift, hold_place
from apps.audit.retention.purging import months_drop, purge_run
from apps.audit.services import entry_record
from apps.audit.verification import verify_chains
from tests.audit.drafts import intent

TABLES = ("audit_entry", "audit_content", "audit_words")


def now() -> datetime:
    return datetime.now(UTC)


def months_of(suffix: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relname = ANY(%s)", [[f"{each}_{suffix}" for each in TABLES]]
        )
        return [name for (name,) in cursor.fetchall()]


@pytest.fixture
def past_month(transactional_db: None, fresh_writer: None, owner_sql: Callable[[str], None]) -> Iterator[datetime]:
    """A month long past, with a partition of each table."""
    first = (now() - timedelta(days=400)).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    after = (first + timedelta(days=32)).replace(day=1)
    for table in TABLES:
        owner_sql(
            f"CREATE TABLE IF NOT EXISTS {table}_{first:%Y_%m} PARTITION OF {table}"
            f" FOR VALUES FROM ('{first.isoformat()}') TO ('{after.isoformat()}')"
        )
    yield first
    for table in TABLES:
        owner_sql(f"DROP TABLE IF EXISTS {table}_{first:%Y_%m}")


def test_a_month_goes_when_all_of_it_was_purged_and_not_before(admin: Any, past_month: datetime) -> None:
    suffix = f"{past_month:%Y_%m}"
    for sender in ("7", "8"):
        entry_record(intent(sender=sender, params={"of": sender}, at=past_month + timedelta(days=3)))
    entry_record(intent(sender="7", params={"of": "today"}))
    retention_set(admin, "calls", days=100, at=now())
    hold = hold_place(admin, reason="case 8", sender="8", at=now())
    assert purge_run("calls", at=now()).records == 1
    assert months_drop(now()) == 0 and len(months_of(suffix)) == len(TABLES)

    hold_lift(admin, hold, reason="closed", at=now())
    assert purge_run("calls", at=now()).records == 1
    assert months_drop(now()) == 1 and months_of(suffix) == []
    assert Entry.objects.filter(kind="call_intent").count() == 1
    report = verify_chains()
    assert report.is_intact and report.purged == 2
