"""What the ledger knows of an agent's last commands, and whether a sender ever wrote: bounded reads, for hints."""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import connection

from apps.audit.queries import DENIED

ENTRIES_READ: Final = 1000
LINE_READ: Final = 2000
SPAN: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class PastCommand:
    """One earlier call: the command, masked, and whether it was refused."""

    at: datetime
    command: str
    is_denied: bool


def past_commands(*, environment: str, agent: str, tool: str, until: datetime, apart_from: UUID) -> list[PastCommand]:
    """List the agent's earlier commands, newest first, as far as its last 1,000 entries of 90 days hold them.

    Of a longer line the first 2,000 characters.
    """
    recent = (
        "SELECT at, id, call_id, kind, status, environment, tool FROM audit_entry"
        " WHERE agent = %s AND at >= %s AND at < %s ORDER BY at DESC, id DESC LIMIT %s"
    )
    statement = (
        f"SELECT min(e.at) AS began, max(left(c.params ->> 'command', {LINE_READ})), bool_or({DENIED})"
        f" FROM ({recent}) AS e"
        " LEFT JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id AND jsonb_typeof(c.params) = 'object'"
        " WHERE e.environment = %s AND e.tool = %s AND e.call_id <> %s GROUP BY e.call_id ORDER BY began DESC"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [agent, until - SPAN, until, ENTRIES_READ, environment, tool, apart_from])
        return [PastCommand(at, command, is_denied) for at, command, is_denied in cursor.fetchall() if command]


def sender_is_known(*, environment: str, channel: str, sender: str, until: datetime, apart_from: UUID) -> bool:
    """Say whether anything on record came from this sender on this channel before."""
    statement = (
        "SELECT EXISTS (SELECT FROM audit_entry WHERE sender = %s AND at < %s AND channel = %s AND environment = %s"
        " AND call_id IS DISTINCT FROM %s)"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [sender, until, channel, environment, apart_from])
        return bool(cursor.fetchone()[0])
