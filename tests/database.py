"""The test database under two roles: who migrates, who serves, and who empties it between transactional tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from django.conf import settings
from django.db import connections
from django.db.backends.postgresql.operations import DatabaseOperations

from openclaw_admin import database as prepared

_SIGN_IN = ("USER", "PASSWORD", "HOST", "PORT")
APPLICATION = {name: settings.DATABASES["default"][name] for name in _SIGN_IN}
OWNER = {name: settings.DATABASES["owner"][name] for name in _SIGN_IN}
HAS_TWO_ROLES = bool(OWNER["USER"]) and OWNER["USER"] != APPLICATION["USER"]


def connect_as_owner() -> None:
    """Have every new connection of this process belong to the owner role."""
    connection = connections["default"]
    connection.close()
    connection.settings_dict.update(OWNER)
    connection.settings_dict["OPTIONS"].pop("options", None)


def serve_as_application() -> None:
    """Have every new connection act as the application role, as in production."""
    if HAS_TWO_ROLES:
        connection = connections["default"]
        connection.close()
        connection.settings_dict["OPTIONS"]["options"] = f"-c role={APPLICATION['USER']}"


def grant_to_application() -> None:
    """Give the application role what `manage.py prepare_database` gives it."""
    if not HAS_TWO_ROLES:
        return
    with connections["default"].cursor() as cursor:
        prepared.grant_to_application(cursor, str(APPLICATION["USER"]))


_TABLES = """
SELECT c.oid::regclass::text, EXISTS (
    SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgtype & 32 > 0)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND c.relname <> 'django_migrations'
"""


def _empty(_operations: DatabaseOperations, _sql_list: list[str]) -> None:
    """Empty every table as the owner, those that refuse TRUNCATE included."""
    from apps.audit.writer import close_writer

    close_writer()  # its chain ends with the rows that hold it; the next test opens one of its own
    connection = connections["default"]
    with connection.cursor() as cursor:
        if HAS_TWO_ROLES:
            cursor.execute("SET ROLE NONE")
        cursor.execute("BEGIN")
        try:
            cursor.execute(_TABLES)
            tables = cursor.fetchall()
            guarded = [name for name, has_guard in tables if has_guard]
            for name in guarded:
                cursor.execute(f"ALTER TABLE {name} DISABLE TRIGGER USER")
            names = ", ".join(name for name, _ in tables)
            cursor.execute(f"TRUNCATE {names} RESTART IDENTITY")
            for name in guarded:
                cursor.execute(f"ALTER TABLE {name} ENABLE TRIGGER USER")
            cursor.execute("COMMIT")
        except BaseException:
            cursor.execute("ROLLBACK")
            raise
        finally:
            if HAS_TWO_ROLES:
                cursor.execute("RESET ROLE")


@contextmanager
def flush_as_owner() -> Iterator[None]:
    """Let transactional tests empty the database, which the application role may not."""
    with patch.object(DatabaseOperations, "execute_sql_flush", _empty):
        yield


def role_now() -> Any:
    """The role under which a test's statements run."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT current_user")
        return cursor.fetchone()[0]
