"""The program that asks a database one question: `python -I query_program.py`, one order as JSON on stdin.

Knows nothing of this project. The question goes into a cursor of a transaction that may only read: PostgreSQL takes one
statement there, and none that changes anything. What comes back is one JSON object with `result` or `error`.
"""

import datetime
import decimal
import json
import sys
from typing import Any

import psycopg
from psycopg import sql

CONNECT_LIMIT_S = 10
MESSAGE_CHARACTERS = 500
POWERFUL = """
SELECT string_agg(rolname, ', ') FROM pg_catalog.pg_roles
WHERE pg_catalog.pg_has_role(session_user, oid, 'MEMBER')
AND (rolsuper OR rolreplication OR rolbypassrls OR rolcreaterole OR rolname IN (
    'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_write_all_data',
    'pg_signal_backend'
))
"""
ENDINGS = {
    "57014": ("query_timed_out", "the database ended the query after {timeout_ms} ms"),
    "55P03": ("query_timed_out", "the query waited too long for a lock"),
    "25006": ("write_refused", "the database may only be read: {message}"),
}


CONNECTING = {
    "authentication failed": "it does not accept the login",
    "no pg_hba.conf entry": "it does not let this machine or login in",
    "does not exist": "it has no such database or login",
    "Connection refused": "nobody listens there",
    "timeout expired": "nobody answers in time",
    "certificate": "it does not prove its name",
    "root.crt": "it does not prove its name",
}
"""What libpq says of a connection that failed -> our words; what the other side said stays there."""


class PowerfulRoleError(Exception):
    """The login may do more than a question needs."""


def ask(order: dict[str, Any]) -> dict[str, Any]:
    """Ask, and give columns and rows up to the order's limits.

    Raises:
        psycopg.Error, PowerfulRoleError, MemoryError.
    """
    with psycopg.connect(
        order["dsn"], **order["place"], connect_timeout=CONNECT_LIMIT_S, application_name="openclaw-admin"
    ) as connection:
        connection.read_only = True
        with connection.cursor() as cursor:
            set_limits(cursor, order["timeout_ms"])
            row = cursor.execute(POWERFUL).fetchone()
            if row is not None and row[0]:
                raise PowerfulRoleError(row[0])
        with connection.cursor(name="question") as question:
            question.execute(sql.SQL(order["query"]))
            rows = question.fetchmany(order["row_limit"] + 1)
            result = told(question, rows, order)
        connection.rollback()
    return result


def set_limits(cursor: psycopg.Cursor[Any], timeout_ms: int) -> None:
    for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
        cursor.execute("SELECT pg_catalog.set_config(%s, %s, false)", (name, str(timeout_ms)))


def told(question: psycopg.ServerCursor[Any], rows: list[Any], order: dict[str, Any]) -> dict[str, Any]:
    columns = [{"name": each.name, "type": each.type_display} for each in question.description or ()]
    kept: list[list[Any]] = []
    size = 0
    for row in rows[: order["row_limit"]]:
        values = [as_json(value) for value in row]
        size += len(json.dumps(values))
        if size > order["limit_bytes"]:
            break
        kept.append(values)
    return {"columns": columns, "rows": kept, "count": len(kept), "truncated": len(kept) < len(rows)}


def as_json(value: Any) -> Any:
    """Write a value of a column: what JSON has no form for becomes its text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)  # neither infinite nor no number
    if isinstance(value, bytes | bytearray | memoryview):
        return f"\\x{bytes(value).hex()}"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(name): as_json(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    return format(value, "f") if isinstance(value, decimal.Decimal) and value.is_finite() else str(value)


def answer(order: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"result": ask(order)}
    except PowerfulRoleError as exc:
        message = f"the login of this database may do more than read: it is, or may become, {exc}"
        return error("role_too_powerful", message)
    except MemoryError:
        return error("result_too_large", "the rows are too large: ask for fewer or shorter columns")
    except psycopg.Error as exc:
        return failure(exc, order)


def unreachable(told: str) -> str:
    """Say in our words why there is no connection: what answers at an address may be no database at all."""
    for sign, words in CONNECTING.items():
        if sign in told:
            return words
    return "it cannot be reached, or does not speak as a database does"


def failure(exc: psycopg.Error, order: dict[str, Any]) -> dict[str, Any]:
    if exc.sqlstate is None and isinstance(exc, psycopg.OperationalError):
        return error("database_unreachable", f"the database does not answer: {unreachable(str(exc))}")
    message = (exc.diag.message_primary or str(exc).strip() or type(exc).__name__).splitlines()[0]
    if exc.sqlstate is None:
        return error("query_failed", message)
    code, words = ENDINGS.get(exc.sqlstate, ("query_failed", "the database refuses the query: {message}"))
    place = f" at character {exc.diag.statement_position}" if exc.diag.statement_position else ""
    return error(code, words.format(message=message, timeout_ms=order["timeout_ms"]) + place)


def error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message[:MESSAGE_CHARACTERS]}}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(answer(json.load(sys.stdin)), ensure_ascii=True))
