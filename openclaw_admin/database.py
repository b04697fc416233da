"""Makes a database ready to serve: migrations by the owner, rights for the application, nothing more on the ledger."""

import errno
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import LiteralString

import psycopg
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.db.backends.utils import CursorWrapper
from django.db.migrations.exceptions import MigrationSchemaMissing
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import DatabaseError, OperationalError
from psycopg import sql

from openclaw_admin.embedded.errors import EmbeddedError

PREPARE_LOCK = 7_020_317_204  # any number that nothing else locks: two starts at once migrate one after the other
GRANTS = (
    "GRANT USAGE ON SCHEMA public TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
    "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {role}",
)
# What runs with the owner's rights. Who may call it is said here and not by a migration: a dump carries no rights.
OWNERS_FUNCTIONS = """
SELECT p.oid::regprocedure::text FROM pg_proc AS p
WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef AND p.proowner = to_regrole(current_user)
"""
# Stands in a database while a restore fills it, so that nobody serves what has not been verified.
RESTORING = "openclaw_admin_restoring"
UNKNOWN_NAMED = 2
_REASON = re.compile(r"(?:failed|FATAL): +(?!.*(?:failed|FATAL): )(.*)")


def append_only_tables() -> list[str]:
    """Name the tables that each application declares append-only."""
    return [table for config in apps.get_app_configs() for table in getattr(config, "append_only_tables", ())]


def grant_to_application(cursor: CursorWrapper, role: str) -> None:
    """Let the application's role serve: rows of every table, but the append-only ones can only grow.

    A partition is reached through its parent only, so nothing is granted on it.
    """
    name = sql.Identifier(role)
    for statement in GRANTS:
        cursor.execute(sql.SQL(statement).format(role=name))
    for table in append_only_tables():
        revoke = sql.SQL("REVOKE UPDATE, DELETE, TRUNCATE ON {table} FROM {role}")
        cursor.execute(revoke.format(table=sql.Identifier(table), role=name))
        cursor.execute("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass", [table])
        for (partition,) in cursor.fetchall():
            revoke = sql.SQL("REVOKE ALL ON {table} FROM {role}")
            cursor.execute(revoke.format(table=sql.Identifier(partition), role=name))
    for function in _owners_functions(cursor):
        cursor.execute(sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(sql.SQL(function), name))
    close_to_others(cursor)


def close_to_others(cursor: CursorWrapper) -> None:
    """Let nobody call what runs with the owner's rights, but the owner and whom it was granted to."""
    for function in _owners_functions(cursor):
        cursor.execute(sql.SQL("REVOKE EXECUTE ON FUNCTION {} FROM PUBLIC").format(sql.SQL(function)))


def _owners_functions(cursor: CursorWrapper) -> list[LiteralString]:
    cursor.execute(OWNERS_FUNCTIONS)
    return [signature for (signature,) in cursor.fetchall()]


def prepare(write: Callable[[str], object], *, is_restoring: bool = False) -> None:
    """Migrate as the owner and give the application its rights; repeating it is harmless.

    Raises:
        EmbeddedError: the database cannot be reached, its disk is full, a restore has not ended, or a newer version
            made it; one sentence.
    """
    with one_sentence(), connections["owner"].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [PREPARE_LOCK])
        try:
            cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [RESTORING])
            if cursor.fetchone()[0] and not is_restoring:
                raise EmbeddedError("a restore into this database has not ended: run `manage.py restore` again")
            check_version("owner")
            call_command("migrate", database="owner", interactive=False, verbosity=0)
            role, owner = settings.DATABASES["default"]["USER"], settings.DATABASES["owner"]["USER"]
            if role and role != owner:
                grant_to_application(cursor, str(role))
            else:
                close_to_others(cursor)
                write("one database role only: triggers guard the audit ledger, set DATABASE_OWNER_URL for a second")
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [PREPARE_LOCK])
    connections["owner"].close()


def check_version(alias: str = "default") -> None:
    """Let nothing work on a database whose migrations this version does not know all.

    Raises:
        EmbeddedError: a newer version made it; one sentence.
    """
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    known = {*loader.disk_migrations, *(each for one in loader.disk_migrations.values() for each in one.replaces)}
    unknown = sorted(set(MigrationRecorder(connections[alias]).applied_migrations()) - known)
    if unknown:
        names = ", ".join(f"{app}.{name}" for app, name in unknown[:UNKNOWN_NAMED])
        more = f" and {len(unknown) - UNKNOWN_NAMED} more" if len(unknown) > UNKNOWN_NAMED else ""
        raise EmbeddedError(
            f"a newer version of OpenClaw Admin than {settings.VERSION} made this database "
            f"({names}{more} unknown here): "
            "start that version, or restore a backup that this one made"
        )


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn a database that cannot be used into one sentence for the person at the terminal."""
    try:
        yield
    except DatabaseError as exc:
        if isinstance(exc.__cause__, psycopg.errors.DiskFull):
            raise EmbeddedError("the disk of the database is full: free some space and start again") from exc
        if isinstance(exc, MigrationSchemaMissing):
            raise EmbeddedError(
                f"the role `{settings.DATABASES['owner']['USER']}` may not create tables in {address()}: "
                "name one that may in DATABASE_OWNER_URL"
            ) from exc
        if not isinstance(exc, OperationalError):
            raise
        lines = str(exc).strip().splitlines() or [type(exc).__name__]
        match = _REASON.search(lines[0])
        raise EmbeddedError(f"cannot use the database at {address()}: {match[1] if match else lines[0]}") from exc


def address() -> str:
    """Name the database without its password."""
    owner = settings.DATABASES["owner"]
    where = f"{owner['HOST'] or 'the local socket'}{':' if owner['PORT'] else ''}{owner['PORT']}"
    return f"{where}/{owner['NAME']}"


def is_disk_full(exc: BaseException) -> bool:
    """Say whether an error, or what caused it, is a full disk."""
    seen: BaseException | None = exc
    while seen is not None:
        if isinstance(seen, psycopg.errors.DiskFull) or getattr(seen, "errno", None) == errno.ENOSPC:
            return True
        seen = seen.__cause__ or seen.__context__
    return False
