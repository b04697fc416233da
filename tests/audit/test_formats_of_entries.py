"""What quotes a call is content: in format 2 an entry's own columns tell nothing that could not be erased."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from apps.audit.chain import body_columns, content_columns
from apps.audit.drafts import EntryDecision
from apps.audit.models import Entry
from apps.audit.selectors import call_record, entry
from apps.audit.services import entry_record
from apps.audit.verification import verify_chains
from tests.audit.drafts import intent
from tests.audit.test_verify import MAINTENANCE

pytestmark = pytest.mark.django_db(transaction=True)

QUOTED = "quoted-of-the-call"


def recorded() -> Any:
    return entry_record(
        intent(
            changes={"hooks": [{"path": "command", "from": QUOTED}]},
            decision=EntryDecision(verdict="ask", reason=f"`{QUOTED}` is not on the allowlist"),
        )
    )


def entry_row() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(e::text, ' ') FROM audit_entry AS e")
        return str(cursor.fetchone()[0])


def test_what_quotes_a_call_stands_in_its_content_alone() -> None:
    receipt = recorded()
    assert QUOTED not in entry_row()
    row = entry(receipt.id)
    assert row is not None and row.format == 2
    assert QUOTED in str(row.changes) and QUOTED in row.decision_reason
    told = Entry.objects.get(id=receipt.id)
    assert (told.changes, told.decision_reason) == (row.changes, row.decision_reason)


def test_a_call_reads_as_before() -> None:
    recorded()
    [call_id] = Entry.objects.values_list("call_id", flat=True)
    assert call_id is not None
    record = call_record(call_id)
    assert record is not None and QUOTED in record.reason and QUOTED in str(record.changes)


@pytest.mark.parametrize("column, value", [("changes", "'{}'"), ("decision_reason", "'other'")])
def test_a_changed_quotation_is_found(owner_sql: Callable[[str], None], column: str, value: str) -> None:
    recorded()
    owner_sql(MAINTENANCE.format(f"UPDATE audit_content SET {column} = {value}"))
    assert [problem.code for problem in verify_chains().problems] == ["content_changed"]


def test_nothing_comes_back_beside_what_was_erased(owner_sql: Callable[[str], None]) -> None:
    receipt = recorded()
    owner_sql(MAINTENANCE.format("UPDATE audit_entry SET changes = '{\"made\": \"up\"}', decision_reason = 'made up'"))
    owner_sql(MAINTENANCE.format("DELETE FROM audit_content"))
    row = entry(receipt.id)
    assert row is not None and row.changes is None and row.decision_reason == ""


def test_an_entry_of_an_unknown_format_is_a_problem_not_an_accident(owner_sql: Callable[[str], None]) -> None:
    recorded()
    owner_sql(MAINTENANCE.format("UPDATE audit_entry SET format = 99"))
    assert {problem.code for problem in verify_chains().problems} == {"changed", "content_changed"}


def test_the_formats_keep_every_column_in_one_place() -> None:
    assert set(body_columns(1)) - set(body_columns(2)) == set(content_columns(2)) - set(content_columns(1))
    with pytest.raises(ValueError, match="format 3"):
        body_columns(3)
