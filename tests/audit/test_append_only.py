"""What was written stays: the database refuses, whoever asks, but for the owner's stated path."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from uuid import UUID

import psycopg
import pytest
from django.db import ProgrammingError, connection, transaction

from apps.audit.apps import AuditConfig
from apps.audit.models import Boot, Entry
from apps.audit.services import entry_record, partitions_ensure
from tests.audit.drafts import intent

pytestmark = pytest.mark.django_db

CHANGES = [
    "UPDATE audit_entry SET status = 'completed'",
    "DELETE FROM audit_entry",
    "TRUNCATE audit_entry",
    "UPDATE audit_content SET params = '{}'",
    "DELETE FROM audit_content",
    "TRUNCATE audit_content",
]


@pytest.mark.parametrize("statement", CHANGES)
def test_the_application_role_can_change_nothing(statement: str) -> None:
    entry_record(intent(params={"path": "a"}))
    with pytest.raises(ProgrammingError, match=r"permission denied|append-only"), transaction.atomic():
        connection.cursor().execute(statement)


@pytest.mark.parametrize("statement", CHANGES)
def test_even_the_owner_is_refused_without_saying_what_for(owner_sql: Callable[[str], None], statement: str) -> None:
    entry_record(intent(params={"path": "a"}))
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
        owner_sql(statement)


@pytest.mark.parametrize("parent", ["audit_entry", "audit_content"])
def test_a_partition_is_guarded_like_the_whole(owner_sql: Callable[[str], None], parent: str) -> None:
    month = datetime.now(UTC).strftime("%Y_%m")
    entry_record(intent(params={"path": "a"}))
    for statement in (f"DELETE FROM {parent}_{month}", f"TRUNCATE {parent}_{month}", f"TRUNCATE {parent}_default"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
            owner_sql(statement)


def test_the_owner_may_erase_content_on_the_stated_path(owner_sql: Callable[[str], None]) -> None:
    receipt = entry_record(intent(params={"path": "a"}))
    owner_sql(
        "BEGIN; SET LOCAL openclaw_admin.audit_maintenance = 'on';"
        f"DELETE FROM audit_content WHERE entry_id = '{receipt.id}'; COMMIT"
    )
    assert Entry.objects.filter(id=receipt.id).exists()


@pytest.mark.usefixtures("two_roles")
def test_the_application_role_cannot_take_the_owners_path() -> None:
    entry_record(intent(params={"path": "a"}))
    with pytest.raises(ProgrammingError), transaction.atomic():
        cursor = connection.cursor()
        cursor.execute("SET LOCAL openclaw_admin.audit_maintenance = 'on'")
        cursor.execute("DELETE FROM audit_content")


def test_partitions_of_the_coming_months_are_made_once() -> None:
    assert partitions_ensure(date(2027, 6, 15)) == 4 * len(AuditConfig.partitioned_tables)
    assert partitions_ensure(date(2027, 6, 20)) == 0


def test_entries_that_fell_into_the_default_partition_move_into_the_new_one() -> None:
    at = datetime(2027, 12, 24, 18, 0, tzinfo=UTC)
    receipt = entry_record(intent(at=at, params={"path": "a"}))
    assert place_of(receipt.id) == "audit_entry_default"
    partitions_ensure(at.date())
    assert place_of(receipt.id) == "audit_entry_2027_12"


def test_the_application_role_reaches_a_new_partition_only_through_the_whole() -> None:
    partitions_ensure(date(2028, 2, 1))
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        connection.cursor().execute("INSERT INTO audit_entry_2028_02 SELECT * FROM audit_entry LIMIT 0")


@pytest.mark.usefixtures("two_roles")
def test_what_runs_with_the_owners_rights_is_callable_by_the_application_alone() -> None:
    statement = (
        "SELECT p.proname, has_function_privilege(current_user, p.oid, 'EXECUTE'),"
        " has_function_privilege('pg_read_all_data', p.oid, 'EXECUTE')"
        " FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement)
        found = {name: rights for name, *rights in cursor.fetchall()}
    wanted = ("audit_purge", "audit_erase", "audit_month_drop", "audit_partition_ensure")
    assert found == {name: [True, False] for name in wanted}


def test_boots_may_be_updated_because_leases_move() -> None:
    chain_id = entry_record(intent()).chain_id
    assert Boot.objects.filter(id=chain_id, ended_at=None, seq__gt=0).exists()


def place_of(entry_id: UUID) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tableoid::regclass::text FROM audit_entry WHERE id = %s", [entry_id])
        place: str = cursor.fetchone()[0]
    return place
