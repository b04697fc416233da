"""`manage.py audit verify` and `verify_audit.py` give the same verdict, whatever was done to the tables."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import verify_audit
from apps.audit.checkpoints import checkpoints_make
from apps.audit.drafts import EntryReceipt
from apps.audit.sealing import seal_entry
from apps.audit.services import entry_record
from apps.audit.signing import audit_key, key_id
from apps.audit.verification import verify_chains
from apps.audit.writer import Writer
from tests.audit.drafts import intent
from tests.audit.ledger_files import dump_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]

Owner = Callable[[str], None]
MAINTENANCE = "BEGIN; SET LOCAL openclaw_admin.audit_maintenance = 'on'; {}; COMMIT"
OURS = "chain_id = '{chain}'"
REWIND = (
    "UPDATE audit_boot SET seq = {seq}, head = (SELECT hash FROM audit_entry WHERE " + OURS + " AND seq = {seq})"
    " WHERE id = '{chain}'"
)
CONTENT = "DELETE FROM audit_content WHERE entry_id IN (SELECT id FROM audit_entry WHERE " + OURS + " AND {which})"
ENTRY = "DELETE FROM audit_entry WHERE " + OURS + " AND {which}"
SIGNED, ALL = 60, 112
"""Numbers of the entry that the last checkpoint covers, and of the last entry: 52 come after the checkpoint."""

MANIPULATIONS: dict[str, tuple[list[str], bool]] = {
    "nothing": ([], True),
    "the newest 52 deleted": ([ENTRY.replace("{which}", "seq > 60")], False),
    "the newest 52 deleted, the counter rewound": (
        [REWIND.replace("{seq}", "60"), ENTRY.replace("{which}", "seq > 60")],
        False,
    ),
    "the newest deleted, the counter rewound": (
        [REWIND.replace("{seq}", "111"), ENTRY.replace("{which}", "seq > 111")],
        False,
    ),
    "signed ones deleted with their contents, the counter rewound": (
        [
            CONTENT.replace("{which}", "seq > 50"),
            REWIND.replace("{seq}", "50"),
            ENTRY.replace("{which}", "seq > 50"),
        ],
        False,
    ),
    "one in the middle deleted": ([ENTRY.replace("{which}", "seq = 20")], False),
    "the first deleted": ([ENTRY.replace("{which}", "seq = 1")], False),
    "a chain deleted, its counter left": (
        [CONTENT.replace("{which}", "true"), ENTRY.replace("{which}", "true")],
        False,
    ),
    "a chain deleted with its counter": (
        [
            CONTENT.replace("{which}", "true"),
            ENTRY.replace("{which}", "true"),
            "DELETE FROM audit_boot WHERE id = '{chain}'",
        ],
        False,
    ),
    "an entry changed": (["UPDATE audit_entry SET tool = 'x' WHERE " + OURS + " AND seq = 9"], False),
    "an instant changed": (
        ["UPDATE audit_entry SET at = at + interval '1 microsecond' WHERE " + OURS + " AND seq = 9"],
        False,
    ),
    "a link changed": (["UPDATE audit_entry SET prev_hash = hash WHERE " + OURS + " AND seq = 9"], False),
    "a number changed": (["UPDATE audit_entry SET seq = 500 WHERE " + OURS + " AND seq = 112"], False),
    "a content deleted": ([CONTENT.replace("{which}", "seq = 9")], False),
    "a content changed": (["UPDATE audit_content SET params = '{{\"n\": 9000}}' WHERE params = '{{\"n\": 2}}'"], False),
    "a content left behind": (
        [
            "INSERT INTO audit_content (at, entry_id, salt) VALUES (now(), gen_random_uuid(), '\\x00')",
        ],
        False,
    ),
    "the counter rewound alone": ([REWIND.replace("{seq}", "111")], False),
    "the counter set forward": (["UPDATE audit_boot SET seq = seq + 1 WHERE id = '{chain}'"], False),
    "the head changed": (["UPDATE audit_boot SET head = '\\x00' WHERE id = '{chain}'"], False),
    "the counter deleted": (["DELETE FROM audit_boot WHERE id = '{chain}'"], False),
    "another chain's newest deleted, its counter rewound": (
        [
            "UPDATE audit_boot SET seq = 2, head ="
            " (SELECT hash FROM audit_entry WHERE chain_id = '{other}' AND seq = 2) WHERE id = '{other}'",
            "DELETE FROM audit_entry WHERE chain_id = '{other}' AND seq > 2",
        ],
        False,
    ),
}


STATEMENTS: dict[str, str] = {
    "the first checkpoint deleted": "DELETE FROM audit_statement WHERE number = 1",
    "a checkpoint changed": "UPDATE audit_statement SET kind = 'key' WHERE number = 2",
}


@pytest.fixture(autouse=True)
def keys(settings: Any, tmp_path: Path) -> None:
    settings.KEYS_DIR, settings.AUDIT_KEY = tmp_path / "keys", ""


@pytest.fixture
def chains(fresh_writer: None, another_process: Writer) -> tuple[EntryReceipt, EntryReceipt]:
    """The last entries of two chains, of which checkpoints cover the beginning."""
    other = another_process.submit(*(seal_entry(intent(params={"m": number})) for number in range(4))).result(30)[-1]
    first = [entry_record(intent(params={"n": number})) for number in range(20)]
    checkpoints_make()
    first += [entry_record(intent(params={"n": number})) for number in range(20, SIGNED)]
    checkpoints_make()
    rest = [entry_record(intent(params={"n": number})) for number in range(SIGNED, ALL)]
    assert (len(first), rest[-1].seq) == (SIGNED, ALL)
    return rest[-1], other


def verdicts(folder: Path) -> tuple[bool, bool]:
    """Say whether the ledger holds, by the command and by the file that works alone."""
    path = dump_now().write(folder / "dump.sql")
    offline = verify_audit.main(["dump", str(path), "--key", key_id(audit_key().public), "--json"])
    return verify_chains().is_intact, offline == 0


@pytest.mark.parametrize("name", MANIPULATIONS)
def test_both_verifiers_give_the_same_verdict(
    name: str, chains: tuple[EntryReceipt, EntryReceipt], owner_sql: Owner, tmp_path: Path
) -> None:
    statements, holds = MANIPULATIONS[name]
    ours, other = chains
    for statement in statements:
        owner_sql(MAINTENANCE.format(statement.format(chain=ours.chain_id, other=other.chain_id)))

    assert verdicts(tmp_path) == (holds, holds)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", STATEMENTS)
def test_both_verifiers_see_what_was_done_to_statements(
    name: str, chains: tuple[EntryReceipt, EntryReceipt], owner_sql: Owner, tmp_path: Path
) -> None:
    owner_sql(MAINTENANCE.format(STATEMENTS[name]))

    assert verdicts(tmp_path) == (False, False)
