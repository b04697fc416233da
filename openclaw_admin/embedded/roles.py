"""The two roles of a database: the owner migrates, the application serves."""

from collections.abc import Mapping

import psycopg
from psycopg import sql

SUPERUSER = "postgres"
OWNER, APPLICATION = "openclaw_owner", "openclaw_app"
DATABASE = "openclaw_admin"


def make_roles(connection: psycopg.Connection, passwords: Mapping[str, str]) -> None:
    """Make both roles, or give them these passwords; the owner may act as the application."""
    known = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles")}
    for role, password in passwords.items():
        verb = sql.SQL("ALTER" if role in known else "CREATE")
        rights = sql.SQL("CREATEDB" if role == OWNER else "NOCREATEDB")
        connection.execute(
            sql.SQL("{} ROLE {} LOGIN NOSUPERUSER NOCREATEROLE {} PASSWORD {}").format(
                verb, sql.Identifier(role), rights, sql.Literal(password)
            )
        )
    connection.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(APPLICATION), sql.Identifier(OWNER)))


def make_database(connection: psycopg.Connection) -> None:
    """Make the database when it is missing; nobody else may enter it."""
    name = sql.Identifier(DATABASE)
    if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(name, sql.Identifier(OWNER)))
    connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(name))
    connection.execute(
        sql.SQL("GRANT CONNECT, TEMPORARY ON DATABASE {} TO {}").format(name, sql.Identifier(APPLICATION))
    )


def close_public_schema(connection: psycopg.Connection) -> None:
    """Let the owner make tables and nobody else."""
    connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    connection.execute(sql.SQL("GRANT USAGE, CREATE ON SCHEMA public TO {}").format(sql.Identifier(OWNER)))
