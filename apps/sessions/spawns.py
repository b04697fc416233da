"""Which session spawned which: what is on record, for the calls that come next."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError

from apps.audit.chain import storable_text
from apps.firewall.runtime.sessions import SessionName
from apps.sessions.errors import SessionsUnavailableError
from apps.sessions.models import Session

CHILD_KEYS: Final = r":(subagent|acp|dashboard):"
OTHER_CHILDREN_KNOWN: Final = 100_000


@dataclass(frozen=True, slots=True)
class SpawnedSession:
    """A session with a parent. Of one that was recorded before records of spawns were kept only the parent is known."""

    name: SessionName
    record: Mapping[str, Any]


def spawn_of(name: SessionName) -> Mapping[str, Any] | None:
    """Give the record of the session that spawned one; None where none is known.

    Raises:
        SessionsUnavailableError: the database did not answer.
    """
    rows = Session.objects.filter(environment__slug=name.environment, key=storable_text(name.key))
    try:
        row = rows.filter(agent=storable_text(name.agent)).values_list("spawn", "parent_key").first()
    except DatabaseError as exc:
        raise SessionsUnavailableError(f"sessions cannot be read now: {type(exc).__name__}") from exc
    return None if row is None else _record(*row)


def last_context_of(environment: str, key: str) -> tuple[str, Mapping[str, Any]] | None:
    """Give the agent of a session and what its last call said; None where it made none.

    Raises:
        SessionsUnavailableError: the database did not answer.
    """
    rows = Session.objects.filter(environment__slug=environment, key=storable_text(key), context__isnull=False)
    try:
        row = rows.order_by("-last_call_at").values_list("agent", "context").first()
    except DatabaseError as exc:
        raise SessionsUnavailableError(f"sessions cannot be read now: {type(exc).__name__}") from exc
    return None if row is None or row[1] is None else (row[0], row[1])


def spawned_session(session_id: UUID) -> SpawnedSession | None:
    """Give a session that has a parent."""
    return next(iter(_spawned(pk=session_id)), None)


def other_children() -> list[SpawnedSession]:
    """Give the sessions with a parent whose keys do not look like it, the latest first."""
    rows = Session.objects.exclude(key__regex=CHILD_KEYS).exclude(parent_key="")
    return _spawned_of(rows.order_by("-last_call_at")[:OTHER_CHILDREN_KNOWN])


def _spawned(**wanted: Any) -> list[SpawnedSession]:
    return _spawned_of(Session.objects.filter(**wanted).exclude(parent_key=""))


def _spawned_of(rows: Any) -> list[SpawnedSession]:
    found = rows.values_list("environment__slug", "agent", "key", "spawn", "parent_key")
    return [
        SpawnedSession(SessionName(slug, agent, key), _record(spawn, parent) or {})
        for slug, agent, key, spawn, parent in found
    ]


def _record(spawn: Mapping[str, Any] | None, parent: str) -> Mapping[str, Any] | None:
    if spawn is not None:
        return spawn
    return {"spawnedBy": parent} if parent else None
