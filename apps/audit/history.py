"""What the ledger knows of an agent's last commands, and whether a sender ever wrote: bounded reads, for hints."""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection

from apps.audit.queries import DENIED_BY_PERSON, JOINED

ENTRIES_READ: Final = 1000
LINE_READ: Final = 2000
SPAN: Final = timedelta(days=90)


RECENT: Final = (
    "SELECT at, id, call_id, kind, status, environment, tool, decision_layer FROM audit_entry"
    " WHERE agent = %s AND at >= %s AND at < %s ORDER BY at DESC, id DESC LIMIT %s"
)
PAST: Final = (
    f"SELECT min(e.at) AS began, max(left(c.params ->> 'command', {LINE_READ})) AS command,"
    f" bool_or({DENIED_BY_PERSON}) AS is_denied FROM ({RECENT}) AS e"
    " LEFT JOIN audit_content AS c ON c.at = e.at AND jsonb_typeof(c.params) = 'object'"
    " AND c.entry_id = CASE WHEN e.kind <> 'approval_answered' THEN e.id END"  # an answer repeats no params
    f" WHERE e.environment = %s AND e.tool = %s AND e.call_id <> %s GROUP BY e.call_id HAVING NOT bool_or({JOINED})"
)
SHAPE: Final = (
    "concat_ws(' ', substring({0} from '^\\s*(\\S+)'),"
    " substring({0} from '^\\s*\\S+\\s+([a-z]{{1,24}}(?:-[a-z]{{1,24}}){{0,3}})(?!\\S)'))"
)
"""The program of a line, and the verb that follows where one does."""


@dataclass(frozen=True, slots=True)
class PastCommand:
    """One earlier call: the command, masked, and whether a person denied it."""

    at: datetime
    command: str
    is_denied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PastLines:
    """An agent's earlier lines of one shape, counted, and those that hold one of some texts, newest first.

    `denied` counts what people denied; what a rule refused and what expired says nothing of their opinion, and repeats
    of a call that waited are not calls of their own. `last` and `denied_last` are when the newest of them began.
    """

    alike: int = 0
    denied: int = 0
    last: datetime | None = None
    denied_last: datetime | None = None
    holding: tuple[PastCommand, ...] = ()


def past_lines(
    *, environment: str, agent: str, tool: str, until: datetime, apart_from: UUID, line: str, holding: Sequence[str]
) -> PastLines:
    """Look through the agent's earlier commands, as far as its last 1,000 entries of 90 days hold them.

    Of a longer line the first 2,000 characters count.

    Args:
        line: those of its shape (its program, and the verb that follows where one does) are counted.
        holding: texts; a line counts whatever the case of its letters.
    """
    alike = f"{SHAPE.format('command')} = {SHAPE.format('left(%s, ' + str(LINE_READ) + ')')}"
    statement = (
        f"WITH past AS MATERIALIZED ({PAST})"
        f" SELECT NULL, is_denied, count(*), max(began) FROM past WHERE {alike} GROUP BY is_denied"
    )
    values: list[Any] = [agent, until - SPAN, until, ENTRIES_READ, environment, tool, apart_from, line, line]
    if holding:
        found = "EXISTS (SELECT FROM unnest(%s::text[]) AS text WHERE strpos(lower(command), lower(text)) > 0)"
        statement += f" UNION ALL SELECT command, is_denied, 1, began FROM past WHERE {found} ORDER BY 4 DESC"
        values.append(list(holding))
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows = cursor.fetchall()
    counted = {is_denied: (count, last) for command, is_denied, count, last in rows if command is None}
    (others, other_last), (denied, denied_last) = (counted.get(each, (0, None)) for each in (False, True))
    return PastLines(
        alike=others + denied,
        denied=denied,
        last=max((at for at in (other_last, denied_last) if at is not None), default=None),
        denied_last=denied_last,
        holding=tuple(PastCommand(at, command, is_denied) for command, is_denied, _, at in rows if command is not None),
    )


def sender_is_known(*, environment: str, channel: str, sender: str, until: datetime, apart_from: UUID) -> bool:
    """Say whether anything on record came from this sender on this channel before."""
    statement = (
        "SELECT EXISTS (SELECT FROM audit_entry WHERE sender = %s AND at < %s AND channel = %s AND environment = %s"
        " AND call_id IS DISTINCT FROM %s)"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [sender, until, channel, environment, apart_from])
        return bool(cursor.fetchone()[0])
