"""Calls whose shown id begins with some letters."""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection

from apps.audit.queries import IS_HEAD
from apps.firewall.identifiers import id_range

LETTERS_LEAST: Final = 6
"""So many letters of an id leave the calls of some minutes to look through."""


@dataclass(frozen=True, slots=True)
class BegunCall:
    """A call, what it called and for whom."""

    id: UUID
    tool: str
    agent: str


def calls_begun(environment: str, letters: str, *, limit: int) -> list[BegunCall]:
    """Find the newest calls whose id begins so; nothing while it is no such beginning, or a short one.

    Args:
        environment: slug.
        letters: as people see ids: `call_01kq…`.
    """
    if len(letters.removeprefix("call_")) < LETTERS_LEAST:
        return []
    try:
        first, last = id_range("call", letters)
    except ValueError:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT e.call_id, e.tool, e.agent FROM audit_entry AS e WHERE e.call_id BETWEEN %s AND %s"
            f" AND e.environment = %s AND {IS_HEAD} ORDER BY e.call_id DESC LIMIT %s",
            [first, last, environment, limit],
        )
        return [BegunCall(*row) for row in cursor.fetchall()]
