"""The test database under two roles: who migrates, who serves, and who empties it between transactional tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import psycopg
from django.conf import settings
from django.db import connections
from django.db.backends.postgresql.operations import DatabaseOperations
from psycopg.conninfo import make_conninfo

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


def serve_as_application() -> None:
    """Have every new connection sign in as the application role, as in production."""
    connection = connections["default"]
    connection.close()
    connection.settings_dict.update(APPLICATION)


@contextmanager
def owner_connection() -> Iterator[psycopg.Connection]:
    """Sign in to the test database as the owner of its tables, beside what the test does."""
    named = {"user": OWNER["USER"], "password": OWNER["PASSWORD"], "host": OWNER["HOST"], "port": OWNER["PORT"]}
    address = {name: str(value) for name, value in named.items() if value}
    address["dbname"] = str(connections["default"].settings_dict["NAME"])
    with psycopg.connect(make_conninfo(**address), autocommit=True) as connection:
        yield connection


def grant_to_application() -> None:
    """Give the application role what `manage.py prepare_database` gives it."""
    if not HAS_TWO_ROLES:
        return
    with connections["default"].cursor() as cursor:
        prepared.grant_to_application(cursor, str(APPLICATION["USER"]))


_ADDRESS = ("host", "port", "user", "password", "dbname")
_LEDGER = (
    "audit_entry",
    "audit_content",
    "audit_boot",
    "audit_statement",
    "audit_checkpointed",
    "audit_words",
    "audit_tally",
    "audit_follow",
)


def empty_ledger() -> None:
    """Delete what tests left in the ledger: their entries were committed and stay when they are rolled back."""
    from apps.audit.writer import close_writer

    close_writer()
    with owner_connection() as connection, connection.transaction():
        connection.execute("SET LOCAL openclaw_admin.audit_maintenance = 'on'")
        for name in _LEDGER:
            connection.execute(f"DELETE FROM {name}")


_TABLES = """
SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'django_migrations'
"""


def _empty(_operations: DatabaseOperations, _sql_list: list[str]) -> None:
    """Empty every table as the owner, those that refuse it included.

    Most tables are empty after a test. Deleting the few rows of the others takes a fraction of what TRUNCATE takes,
    which makes new files for every table and index.
    """
    from apps.audit.writer import close_writer

    close_writer()  # its chain ends with the rows that hold it; the next test opens one of its own
    with owner_connection() as connection, connection.transaction():
        tables = [name for (name,) in connection.execute(_TABLES)]
        connection.execute(f"LOCK TABLE {', '.join(tables)} IN SHARE ROW EXCLUSIVE MODE")  # who still writes ends first
        looks = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM {name})" for name in tables)
        filled = [name for (name,) in connection.execute(looks)]
        for name in filled:
            connection.execute(f"ALTER TABLE {name} DISABLE TRIGGER USER")
            connection.execute(f"DELETE FROM {name}")
        connection.execute("SET CONSTRAINTS ALL IMMEDIATE")  # no table may be altered while checks of its rows wait
        for name in filled:
            connection.execute(f"ALTER TABLE {name} ENABLE TRIGGER USER")


@contextmanager
def flush_as_owner() -> Iterator[None]:
    """Let transactional tests empty the database, which the application role may not."""
    with patch.object(DatabaseOperations, "execute_sql_flush", _empty):
        yield


def end_other_sessions() -> None:
    """End what is still connected under the role of now, such as the sessions of servers that a test killed."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"
        )


def role_now() -> Any:
    """The role under which a test's statements run."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT current_user")
        return cursor.fetchone()[0]


def application_address() -> str:
    """Tell processes of their own how to reach the test database as the application does."""
    given = connections["default"].get_connection_params()
    return make_conninfo(**{name: str(given[name]) for name in _ADDRESS if given.get(name)})
