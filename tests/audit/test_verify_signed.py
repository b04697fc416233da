"""What was signed is held against what stands: checkpoints against rewriting, tombstones against what is gone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from apps.audit import verification
from apps.audit.chain import TOLD_COLUMNS, body_digest, entry_hash, genesis
from apps.audit.checkpoints import checkpoints_make
from apps.audit.drafts import EntryReceipt
from apps.audit.models import Witness
from apps.audit.services import entry_record
from apps.audit.statements import key_rotate, statement_sign
from apps.audit.verification import verify_chains
from tests.audit.drafts import intent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]

Owner = Callable[[str], None]
MAINTENANCE = "BEGIN; SET LOCAL openclaw_admin.audit_maintenance = 'on'; {}; COMMIT"


@pytest.fixture(autouse=True)
def keys(settings: Any, tmp_path: Path) -> Path:
    settings.KEYS_DIR, settings.AUDIT_KEY = tmp_path / "keys", ""
    return tmp_path / "keys"


@pytest.fixture
def chain(fresh_writer: None) -> list[EntryReceipt]:
    return [entry_record(intent(params={"n": number})) for number in range(9)]


def codes() -> set[str]:
    return {problem.code for problem in verify_chains().problems}


def signed(kind: str, *spans: tuple[int, int], chain: list[EntryReceipt]) -> None:
    """Sign a tombstone of these numbers as whoever deletes does."""
    before = {0: genesis(chain[0].chain_id)} | {each.seq: each.hash for each in chain}
    ranges = []
    for first, last in spans:
        links = {"prev": before[first - 1].hex(), "hash": before[last].hex()} if kind == "purge" else {}
        ranges.append({"chain": str(chain[0].chain_id), "first": first, "last": last} | links)
    statement_sign(kind, {"reason": "test", "by": "user:admin", "ranges": ranges})


def test_erased_content_is_explained_by_what_was_signed(chain: list[EntryReceipt], owner_sql: Owner) -> None:
    gone = ", ".join(f"'{each.id}'" for each in chain[1:6])
    owner_sql(MAINTENANCE.format(f"DELETE FROM audit_content WHERE entry_id IN ({gone})"))
    signed("erasure", (2, 3), (5, 6), chain=chain)
    report = verify_chains()
    assert [(problem.seq, problem.code) for problem in report.problems] == [(4, "content_missing")]
    signed("erasure", (4, 4), chain=chain)
    report = verify_chains()
    assert report.is_intact and (report.erased, report.contents, report.statements) == (5, 4, 2)


@pytest.mark.parametrize("spans", [[(1, 3)], [(4, 6)], [(7, 9)], [(1, 9)], [(2, 3), (4, 5), (8, 8)]])
def test_a_purge_is_explained_by_what_was_signed(
    chain: list[EntryReceipt], owner_sql: Owner, spans: list[tuple[int, int]]
) -> None:
    checkpoints_make()
    for first, last in spans:
        for table in ("audit_content WHERE entry_id IN (SELECT id FROM audit_entry WHERE", "audit_entry WHERE ("):
            owner_sql(MAINTENANCE.format(f"DELETE FROM {table} seq BETWEEN {first} AND {last})"))
    assert not verify_chains().is_intact
    signed("purge", *spans, chain=chain)
    report = verify_chains()
    assert report.problems == []
    assert report.purged == sum(last - first + 1 for first, last in spans) == 9 - report.entries


def test_a_purge_explains_nothing_beyond_it(chain: list[EntryReceipt], owner_sql: Owner) -> None:
    signed("purge", (4, 6), chain=chain)
    owner_sql(MAINTENANCE.format("DELETE FROM audit_entry WHERE seq BETWEEN 4 AND 7"))
    assert codes() == {"missing", "content_stray"}


@pytest.mark.django_db(transaction=True)
def test_a_chain_that_was_rewritten_to_its_end_is_not_what_was_signed(
    chain: list[EntryReceipt], owner_sql: Owner
) -> None:
    checkpoints_make()
    rewrite_from(chain[0].chain_id, 5, owner_sql)
    assert codes() == {"rewritten"}
    entry_record(intent())
    checkpoints_make()
    assert "rewritten" in codes()  # a later checkpoint over the forged head does not help


def rewrite_from(chain_id: UUID, seq: int, owner_sql: Owner) -> None:
    """Change one entry and make every hash after it, and the boot's head, fit: all that the owner of the tables can."""
    names = ", ".join(TOLD_COLUMNS)
    with connection.cursor() as cursor:
        cursor.execute("SELECT prev_hash FROM audit_entry WHERE seq = %s", [seq])
        before = bytes(cursor.fetchone()[0])
        cursor.execute(f"SELECT seq, {names} FROM audit_entry WHERE seq >= %s ORDER BY seq", [seq])
        rows = cursor.fetchall()
    for number, *values in rows:
        columns = dict(zip(TOLD_COLUMNS, values, strict=True)) | ({"tool": "harmless"} if number == seq else {})
        own = entry_hash(chain_id=chain_id, seq=number, prev=before, body=body_digest(columns))
        change = f"tool = '{columns['tool']}', prev_hash = '\\x{before.hex()}', hash = '\\x{own.hex()}'"
        owner_sql(MAINTENANCE.format(f"UPDATE audit_entry SET {change} WHERE seq = {number}"))
        before = own
    owner_sql(f"UPDATE audit_boot SET head = '\\x{before.hex()}'")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("DELETE FROM audit_entry WHERE seq > 7; UPDATE audit_boot SET seq = 7, head = "
         "(SELECT hash FROM audit_entry WHERE seq = 7)", "truncated"),
        ("DELETE FROM audit_entry; DELETE FROM audit_content; DELETE FROM audit_boot", "truncated"),
        ("DELETE FROM audit_statement WHERE number = 1", "statement_missing"),
        ("UPDATE audit_statement SET body = replace(body, '9', '8') WHERE number = 1", "statement_changed"),
        ("UPDATE audit_statement SET signature = public_key || public_key WHERE number = 2", "statement_changed"),
        ("UPDATE audit_checkpointed SET seq = 99", "checkpoint_index"),
        ("DELETE FROM audit_statement", "checkpoint_index"),
        ("UPDATE audit_entry SET decision_reason = 'nobody decided this' WHERE seq = 2", "changed"),
        ("UPDATE audit_entry SET changes = '{}' WHERE seq = 2", "changed"),
    ],
)  # fmt: skip
@pytest.mark.django_db(transaction=True)
def test_what_was_signed_cannot_be_taken_back(
    chain: list[EntryReceipt], owner_sql: Owner, change: str, code: str
) -> None:
    checkpoints_make()
    signed("erasure", (1, 1), chain=chain)
    owner_sql(MAINTENANCE.format(change))
    assert code in codes()


def test_what_was_signed_away_does_not_come_back(chain: list[EntryReceipt]) -> None:
    signed("erasure", (2, 4), (3, 3), (4, 5), (9, 9), chain=chain)
    signed("purge", (6, 7), chain=chain)
    found = [(problem.seq, problem.code) for problem in verify_chains().problems]
    assert found == [(2, "content_back"), (3, "content_back"), (4, "content_back"), (5, "content_back"),
                     (6, "purged_back"), (7, "purged_back"), (9, "content_back")]  # fmt: skip


def test_a_witness_remembers_statements_that_are_gone(chain: list[EntryReceipt]) -> None:
    checkpoints_make()
    witness = Witness.objects.create(name="notary", kind="http", target="https://notary.example/", last_number=1)
    assert verify_chains().is_intact
    Witness.objects.filter(pk=witness.pk).update(last_number=2)
    assert codes() == {"witness_ahead"}


def test_a_rotated_key_vouches_for_what_the_old_one_signed(chain: list[EntryReceipt]) -> None:
    checkpoints_make()
    key_rotate(by="user:admin")
    entry_record(intent())
    checkpoints_make()
    report = verify_chains()
    assert report.is_intact and (report.statements, report.heads, report.open_entries) == (3, 2, 0)


def test_another_key_than_the_one_that_signed_is_noticed(chain: list[EntryReceipt], keys: Path) -> None:
    checkpoints_make()
    (keys / "audit_key").unlink()
    assert codes() == {"key_unknown"}


@pytest.mark.django_db(transaction=True)
def test_several_processes_find_what_one_finds(
    chain: list[EntryReceipt], owner_sql: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints_make()
    owner_sql(
        MAINTENANCE.format("UPDATE audit_entry SET tool = 'x' WHERE seq = 2; DELETE FROM audit_entry WHERE seq = 5")
    )
    monkeypatch.setattr(verification, "STRETCH_ENTRIES", 4)
    alone, together = verify_chains(processes=1), verify_chains(processes=2)
    assert alone == together and {problem.code for problem in alone.problems} == {
        "changed",
        "missing",
        "content_stray",
    }
