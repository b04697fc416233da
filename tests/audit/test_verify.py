"""Walking the chains finds every change."""

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.audit.drafts import EntryReceipt
from apps.audit.selectors import entry
from apps.audit.services import entry_record
from apps.audit.verification import entry_is_intact, verify_chains
from tests.audit.drafts import intent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]

Owner = Callable[[str], None]
MAINTENANCE = "BEGIN; SET LOCAL openclaw_admin.audit_maintenance = 'on'; {}; COMMIT"


@pytest.fixture
def chain(fresh_writer: None) -> list[EntryReceipt]:
    return [entry_record(intent(params={"n": number}, changes={"x": 0.1})) for number in range(5)]


def codes() -> set[str]:
    return {problem.code for problem in verify_chains().problems}


def test_an_untouched_ledger_is_intact(chain: list[EntryReceipt]) -> None:
    report = verify_chains()
    assert report.is_intact
    assert (report.chains, report.entries, report.contents, report.erased) == (1, 5, 5, 0)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("UPDATE audit_entry SET status = 'completed' WHERE seq = 3", "changed"),
        ("UPDATE audit_entry SET at = at + interval '1 microsecond' WHERE seq = 3", "changed"),
        ("DELETE FROM audit_entry WHERE seq = 3", "missing"),
        ("DELETE FROM audit_entry WHERE seq = 5", "truncated"),
        ("UPDATE audit_content SET params = '{\"n\": 9}' WHERE params = '{\"n\": 2}'", "content_changed"),
        ("UPDATE audit_entry SET prev_hash = hash WHERE seq = 3", "unlinked"),
        ("UPDATE audit_boot SET head = '\\x00'", "head_differs"),
        ("UPDATE audit_boot SET seq = 4", "beyond_head"),
        ("DELETE FROM audit_boot", "unknown_chain"),
    ],
)
def test_it_finds_what_was_changed(chain: list[EntryReceipt], owner_sql: Owner, change: str, code: str) -> None:
    owner_sql(MAINTENANCE.format(change))
    assert code in codes()


def test_contents_that_are_gone_without_a_signed_reason_are_missed(chain: list[EntryReceipt], owner_sql: Owner) -> None:
    owner_sql(MAINTENANCE.format("DELETE FROM audit_content"))
    assert codes() == {"content_missing"}


def test_one_entry_can_be_checked_alone(chain: list[EntryReceipt], owner_sql: Owner) -> None:
    owner_sql(MAINTENANCE.format("UPDATE audit_content SET result = '{}' WHERE params = '{\"n\": 2}'"))
    found = [entry(receipt.id) for receipt in chain]
    assert [entry_is_intact(one) for one in found if one] == [True, True, False, True, True]


def test_the_command_says_what_it_walked(chain: list[EntryReceipt]) -> None:
    answer = StringIO()
    call_command("audit", "verify", stdout=answer)
    assert "5 entries in 1 chain" in answer.getvalue()


def test_the_command_fails_on_a_broken_chain(chain: list[EntryReceipt], owner_sql: Owner) -> None:
    owner_sql(MAINTENANCE.format("UPDATE audit_entry SET tool = 'exec' WHERE seq = 3"))
    with pytest.raises(CommandError, match="1 problem"):
        call_command("audit", "verify", stdout=StringIO())
