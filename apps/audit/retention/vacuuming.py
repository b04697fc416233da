"""Rows that are gone: PostgreSQL keeps them until they are vacuumed, and their bytes until they are written over."""

from typing import Final

import psycopg
from psycopg import sql

from apps.audit.retention.erasers import ERASERS
from apps.audit.writer import connection_parameters

OWN: Final = ("audit_entry", "audit_content", "audit_words", "audit_export", "audit_erasure")
OURS: Final = """
SELECT c.oid::regclass::text FROM pg_class AS c
WHERE c.oid = ANY(SELECT to_regclass(name) FROM unnest(%s::text[]) AS name) AND pg_has_role(c.relowner, 'MEMBER')
"""


def rows_vacuum(*, is_full: bool = False) -> tuple[list[str], list[str]]:
    """Vacuum the tables from which purges and erasures take, with their indexes. Not within a transaction.

    Args:
        is_full: write each table anew, so that no byte of what went stays in it. Nobody reads or writes it meanwhile.
    Returns:
        The tables that were vacuumed, and those that only their owner may: DATABASE_OWNER_URL is not known here, and
        PostgreSQL's own vacuum takes them in time.
    """
    names = sorted({*OWN, *(model._meta.db_table for each in ERASERS.values() for model in each.models)})
    # On a connection of its own: it waits for no transaction of ours, and may not be part of one.
    with psycopg.connect(**connection_parameters("owner"), autocommit=True) as connection:
        connection.execute("SET statement_timeout = 0")
        ours = sorted(name for (name,) in connection.execute(OURS, [names]).fetchall())
        how = "VACUUM (FULL, ANALYZE) {}" if is_full else "VACUUM (ANALYZE) {}"
        for name in ours:  # with what the planner noted of contents
            connection.execute(sql.SQL(how).format(sql.Identifier(name)))
    return ours, [name for name in names if name not in ours]
