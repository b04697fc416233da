"""Whoever holds the application's role cannot have the database end more than a hold, a floor and a class allow."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from apps.audit.chain import genesis
from apps.audit.drafts import EntryReceipt
from apps.audit.models import Content, Entry
from apps.audit.retention.classes import retention_set
from apps.audit.retention.holds import hold_place
from apps.audit.services import entry_record
from apps.audit.statements import statement_sign
from tests.audit.drafts import intent

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_ledger", "fresh_writer")]

OLD = timedelta(days=400)
Range = dict[str, Any]


@pytest.fixture
def held(admin: Any, settings: Any, tmp_path: Any) -> list[EntryReceipt]:
    """Five old records, of which a hold keeps the third."""
    settings.KEYS_DIR, settings.AUDIT_KEY = tmp_path / "keys", ""
    now = datetime.now(UTC)
    written = [entry_record(intent(agent=f"agent-{n}", params={"n": n}, at=now - OLD)) for n in range(1, 6)]
    retention_set(admin, "calls", days=30, at=now)
    retention_set(admin, "content", days=30, at=now)
    hold_place(admin, reason="a case", at=now, agent="agent-3")
    return written


def span(written: list[EntryReceipt], first: int, last: int) -> Range:
    before = (genesis(written[0].chain_id) if first == 1 else written[first - 2].hash).hex()
    return {"chain": str(written[0].chain_id), "first": first, "last": last,
            "prev": before, "hash": written[last - 1].hash.hex()}  # fmt: skip


def end(kind: str, ranges: list[Range]) -> int:
    """Ask the database to end records, as the application does."""
    named = {"purge": "calls", "erasure": "content"}[kind]
    function = {"purge": "audit_purge", "erasure": "audit_erase"}[kind]
    since, until = datetime.now(UTC) - 2 * OLD, datetime.now(UTC) - OLD / 2
    with transaction.atomic(), connection.cursor() as cursor:
        said = statement_sign(kind, {"reason": "r", "by": "system", "class": named, "ranges": ranges})
        cursor.execute(f"SELECT {function}(%s, %s, %s)", [said.number, since, until])
        return int(cursor.fetchone()[0])


def all_stand() -> bool:
    numbers = set(Entry.objects.filter(kind="call_intent").values_list("seq", flat=True))
    return len(numbers) == 5 == Content.objects.filter(params__isnull=False).count()


@pytest.mark.parametrize("kind", ["purge", "erasure"])
def test_a_range_that_runs_backwards_makes_up_for_nothing(held: list[EntryReceipt], kind: str) -> None:
    backwards = span(held, 1, 1) | {"first": 3, "last": 1}
    with pytest.raises(DatabaseError, match="ranges that are none"):
        end(kind, [span(held, 1, 5), backwards])
    assert all_stand()


@pytest.mark.parametrize("kind", ["purge", "erasure"])
def test_a_second_record_under_one_number_makes_up_for_nothing(held: list[EntryReceipt], kind: str) -> None:
    names = ", ".join(field for field in _columns() if field not in ("at", "id"))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO audit_entry (at, id, {names})"
            f" SELECT at + interval '1 second', gen_random_uuid(), {names} FROM audit_entry WHERE seq = 2"
        )
    with pytest.raises(DatabaseError, match="may go"):
        end(kind, [span(held, 1, 5)])
    assert all_stand()


@pytest.mark.parametrize("kind", ["purge", "erasure"])
@pytest.mark.parametrize("wrong", [{"first": None}, {"last": None}, {"chain": None}, {"first": 0}, {"first": -4}])
def test_a_range_without_an_end_is_none(held: list[EntryReceipt], kind: str, wrong: Range) -> None:
    with pytest.raises(DatabaseError, match="ranges that are none"):
        end(kind, [span(held, 1, 2), span(held, 1, 2) | wrong])
    assert all_stand()


@pytest.mark.parametrize("kind", ["purge", "erasure"])
def test_what_nothing_keeps_goes(held: list[EntryReceipt], kind: str) -> None:
    assert end(kind, [span(held, 1, 2), span(held, 4, 5)]) == 4
    assert Content.objects.filter(params__isnull=False).count() == 1


def test_guards_look_names_up_in_the_catalogue_first() -> None:
    names = ["audit_refuse_change", "audit_hold_guard", "audit_purge", "audit_erase", "audit_month_drop",
             "audit_partition_ensure", "audit_tombstone"]  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("SELECT proname, array_to_string(proconfig, ';') FROM pg_proc WHERE proname = ANY(%s)", [names])
        found = dict(cursor.fetchall())
    assert sorted(found) == sorted(names)
    assert all("search_path=pg_catalog, public, pg_temp" in (path or "") for path in found.values())


def _columns() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'audit_entry'::regclass AND attnum > 0"
            " AND NOT attisdropped ORDER BY attnum"
        )
        return [name for (name,) in cursor.fetchall()]
