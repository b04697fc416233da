"""The way back from a backup: into an empty database, verified, or not at all."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import psycopg
from django.db import connections
from psycopg import sql
from psycopg.conninfo import make_conninfo

from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.exports import exports_missing
from apps.audit.services import entry_record
from apps.audit.signing import audit_key
from apps.audit.verification import verify_chains
from openclaw_admin.backups import (
    DATABASE,
    HEADS,
    STATEMENTS,
    manifest_read,
    owner_connection,
    tool_address,
    value_of,
)
from openclaw_admin.database import RESTORING, one_sentence, prepare
from openclaw_admin.embedded.dumps import tool_run, tools_of
from openclaw_admin.embedded.errors import EmbeddedError
from openclaw_admin.schema import HAS_NOTHING

RESTORE_LOCK: Final = 7_020_317_205
MOST_TOLD: Final = 5
TOLD_ENTRIES: Final = 100_000
LEFT: Final = """
SELECT format('DROP %%s IF EXISTS %%s CASCADE',
    CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass)
FROM pg_class AS c WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'S')
AND NOT relispartition AND relname <> %s ORDER BY relkind = 'S'
"""
LEFT_FUNCTIONS: Final = """
SELECT format('DROP FUNCTION IF EXISTS %s CASCADE', p.oid::regprocedure) FROM pg_proc AS p
WHERE pronamespace = current_schema()::regnamespace
AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e')
"""
# What a killed restore left running would write on beside the next.
END_TOOLS: Final = """
SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'pg_restore' AND pid <> pg_backend_pid()
"""


def restore(folder: Path, *, write: Callable[[str], object], wants_key: bool = True) -> int:
    """Bring a backup into the empty database of DATABASE_OWNER_URL, give the roles their rights, verify the ledger.

    What does not verify is taken out again, and so is what was interrupted: at once, or by the next restore when this
    process was killed; until then `prepare_database` and `serve` refuse the database.

    Returns:
        The number of entries that were verified.
    Raises:
        EmbeddedError: the manifest or the dump is not what was signed, the database is not empty, the keys are others,
            or something does not verify.
    """
    said = manifest_read(folder)
    if wants_key and audit_key().public.hex() != said["public_key"]:
        raise EmbeddedError("the audit key of the backup is another: put back its key files first, or say --other-keys")
    with one_sentence(), _taken() as connection:
        tools = tools_of(connection.info.server_version // 10_000)
        address = tool_address()
        options = ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction"]
        into = f"--dbname={make_conninfo(dbname=address['PGDATABASE'])}"
        dump = str((folder / DATABASE).absolute())
        tool_run(tools, "pg_restore", [*options, into, dump], address=address, tell=lambda name: write(f"  {name}"))
        prepare(write, is_restoring=True)
        entries = _verified(connection, said, write)
        missing = exports_missing()
        changes = {"made_at": said["made_at"], "sha256": said["files"][DATABASE]["sha256"], "exports": missing}
        entry_record(EntryDraft(kind=EntryKind.BACKUP, actor="system", status="restored", changes=changes))
    return entries


@contextmanager
def _taken() -> Iterator[psycopg.Connection[Any]]:
    """Take an empty database for one restore; only when that ends well is anything left in it."""
    with owner_connection() as connection:
        if not value_of(connection, f"SELECT pg_try_advisory_lock({RESTORE_LOCK})"):
            raise EmbeddedError("another restore into this database runs")
        if value_of(connection, f"SELECT to_regclass('{RESTORING}') IS NOT NULL"):
            _empty(connection)
        elif not value_of(connection, HAS_NOTHING):
            raise EmbeddedError("the database is not empty: restore into a new one")
        else:
            connection.execute(f"CREATE TABLE {RESTORING} (id int)".encode())
        try:
            yield connection
        except BaseException:
            with suppress(psycopg.Error):  # where the database is gone, the next restore does it
                _empty(connection)
                connection.execute(f"DROP TABLE {RESTORING}".encode())
            raise
        connection.execute(f"DROP TABLE {RESTORING}".encode())


def _verified(connection: psycopg.Connection[Any], said: dict[str, Any], write: Callable[[str], object]) -> int:
    heads = {chain: (seq, head) for chain, seq, head in connection.execute(HEADS).fetchall()}
    wanted = {each["chain"]: (each["seq"], each["head"]) for each in said["chains"]}
    problems = [f"chain {chain} does not end where it did" for chain in wanted if heads.get(chain) != wanted[chain]]
    problems += [f"chain {chain} is not of the backup" for chain in heads if chain not in wanted]
    if value_of(connection, STATEMENTS) != said["statements"]:
        problems.append("the signed statements do not end where they did")
    told = 0

    def progress(entries: int) -> None:
        nonlocal told
        if entries - told >= TOLD_ENTRIES:
            told = entries
            write(f"  {entries} entries verified")

    write("verifying the ledger")
    report = verify_chains(progress=progress)
    problems += [f"{each.place}: {each.message}" for each in report.problems]
    if problems:
        raise EmbeddedError(
            f"the ledger of the backup does not verify, nothing was restored: {'; '.join(problems[:MOST_TOLD])}"
        )
    return report.entries


def _empty(connection: psycopg.Connection[Any]) -> None:
    """Take out again what a restore brought into a database that was empty."""
    connections.close_all()
    connection.execute(END_TOOLS)
    statements = connection.execute(LEFT, [RESTORING]).fetchall() + connection.execute(LEFT_FUNCTIONS).fetchall()
    with connection.transaction():
        for (statement,) in statements:
            connection.execute(sql.SQL(statement))
