"""One call's step in its session: read under the row's lock, changed by a pure function, written back.

Two processes that take calls of one session wait for each other here, for a millisecond, so that no history and no
count is lost.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar
from uuid import UUID

from django.db import DatabaseError, connection, transaction

from apps.audit.chain import storable, storable_text
from apps.events.notices import announce
from apps.firewall.engine.inheritance import VERSION_MEMBER, inheritable_context
from apps.firewall.identifiers import new_id, show_id
from apps.firewall.runtime.loops import LoopHistory
from apps.firewall.runtime.sessions import Budgets, SessionPlace, SessionState
from apps.sessions import statements
from apps.sessions.errors import SessionsUnavailableError

T = TypeVar("T")
RUN_QUIET: Final = timedelta(minutes=30)
"""After so long without a call a run is over, and a call that names no run begins another."""

TEXT_LIMIT: Final = 512
SPELLINGS_KEPT: Final = 8
CLIENT_TOOLS_KEPT: Final = 200
SPAWNED: Final = "agent_session.spawned"
PARENT_ENDED: Final = "the session that started it was ended"


@dataclass(frozen=True, slots=True)
class _Found:
    """A row under lock, and the state in it."""

    id: UUID
    state: SessionState
    spellings: list[str]
    has_spawn: bool


def session_change(
    place: SessionPlace,
    change: Callable[[SessionState], tuple[SessionState, T]],
    *,
    sender: str,
    at: datetime,
    is_call: bool,
) -> T:
    """Take a session one step on; the first call of one makes it.

    Args:
        change: called once, under the row's lock: it must be quick and touch nothing.
        sender: the person behind the call, as far as the caller says.
        is_call: the step is a new call, so that the session's run and its last call move with it.
    Returns:
        What `change` gave beside the new state.
    Raises:
        SessionsUnavailableError: the database did not take it; nothing was changed.
        LoopHistoryInvalidError: the stored history cannot be read.
    """
    try:
        with transaction.atomic():
            found = _locked(place, at)
            state, answer = change(found.state)
            _write(place, found, state, sender=sender, at=at, is_call=is_call)
    except DatabaseError as exc:
        raise SessionsUnavailableError(f"sessions cannot be kept now: {type(exc).__name__}") from exc
    return answer


def session_state(place: SessionPlace, *, at: datetime) -> SessionState:
    """Read how a session stands; one that nobody knows yet is new."""
    found = _find(place, "")
    return SessionState(started_at=at) if found is None else found.state


def _locked(place: SessionPlace, at: datetime) -> _Found:
    found = _find(place, "FOR UPDATE OF s")
    if found is not None:
        if place.spawn is not None and not found.has_spawn:
            _keep_spawn(place, found.id)
        return found
    identifier = new_id()
    values = _names(place) | {
        "id": identifier,
        **_spawn(place),
        "at": at,
        "parent_ended": PARENT_ENDED,
    }
    with connection.cursor() as cursor:
        cursor.execute(statements.BEGIN, values)
    if place.spawn is not None:
        announce(SPAWNED, id=identifier, environment=place.name.environment)
    found = _find(place, "FOR UPDATE OF s")
    if found is None:
        raise SessionsUnavailableError(f"no environment named `{place.name.environment}`")
    return found


def spawn_keep(place: SessionPlace, *, at: datetime) -> None:
    """Keep who spawned a session, whether it has made a call or not. What a seen spawn said stays.

    Raises:
        SessionsUnavailableError: the database did not take it.
    """
    try:
        with transaction.atomic():
            found = _locked(place, at)
            if found.has_spawn:
                _keep_spawn(place, found.id)
    except DatabaseError as exc:
        raise SessionsUnavailableError(f"sessions cannot be kept now: {type(exc).__name__}") from exc


def _keep_spawn(place: SessionPlace, identifier: UUID) -> None:
    is_witnessed = VERSION_MEMBER in (place.spawn or {})
    values = {"id": identifier, "is_witnessed": is_witnessed, **_spawn(place)}
    with connection.cursor() as cursor:
        cursor.execute(statements.SPAWN, values)
        if cursor.fetchone() is not None:
            announce(SPAWNED, id=identifier, environment=place.name.environment)


def _spawn(place: SessionPlace) -> dict[str, Any]:
    return {
        "parent_key": place.parent_key and _text(place.parent_key),
        "depth": min(place.depth, 2**31 - 1),
        "spawn": None if place.spawn is None else json.dumps(storable(place.spawn)),
    }


def _find(place: SessionPlace, lock: str) -> _Found | None:
    with connection.cursor() as cursor:
        cursor.execute(f"{statements.FIND} {lock}", _names(place))
        row = cursor.fetchone()
    return None if row is None else _read(row)


def _read(row: tuple[Any, ...]) -> _Found:
    identifier, started_at, calls, denied, is_ended, reason, max_calls, max_denied, max_s, loops, *known = row
    state = SessionState(
        started_at=started_at,
        calls=calls,
        denied=denied,
        end_reason=reason if is_ended else None,
        budgets=Budgets(max_calls=max_calls, max_denied=max_denied, max_duration_s=max_s),
        history=LoopHistory() if loops is None else LoopHistory.from_json(json.loads(loops)),
    )
    return _Found(identifier, state, *known)


def _write(
    place: SessionPlace, found: _Found, state: SessionState, *, sender: str, at: datetime, is_call: bool
) -> None:
    if state is found.state and not is_call:
        return
    is_same = state.history is found.state.history
    values: dict[str, Any] = {
        "id": found.id,
        "calls": state.calls,
        "denied": state.denied,
        "loops": None if is_same else json.dumps(state.history.to_json()),
    }
    with connection.cursor() as cursor:
        if not is_call:
            cursor.execute(statements.REMEMBER, values)
            return
        values |= _step(place, found, sender=sender, at=at)
        if found.state.end_reason is not None:  # what is refused is no run
            cursor.execute(statements.STEP_WITHOUT_RUN, values)
            return
        cursor.execute(statements.STEP_IN_RUN if place.call.run else statements.STEP, values)
        [has_run] = cursor.fetchone()
        if not has_run:
            cursor.execute(statements.BEGIN_RUN, values)


def _step(place: SessionPlace, found: _Found, *, sender: str, at: datetime) -> dict[str, Any]:
    call = place.call
    spelling = storable_text(call.context.session_key or "")
    is_known = spelling in found.spellings or len(found.spellings) >= SPELLINGS_KEPT or len(spelling) > TEXT_LIMIT
    run_pk = new_id()
    return {
        "at": at,
        "tool": _text(call.tool),
        "channel": _text(call.channel),
        "sender": _text(sender),
        "spellings": found.spellings if is_known else [*found.spellings, spelling],
        "run_pk": run_pk,
        "run_id": _text(call.run) if call.run else show_id("srun", run_pk),
        "is_given": bool(call.run),
        "quiet_since": at - RUN_QUIET,
        "context": json.dumps(storable(inheritable_context(call.context))),
        "client_tools": [_text(name) for name in (call.context.runtime_tools or ())[:CLIENT_TOOLS_KEPT]],
    }


def _names(place: SessionPlace) -> dict[str, Any]:
    name = place.name
    return {"environment": name.environment, "agent": _text(name.agent), "key": _text(name.key)}


def _text(text: str) -> str:
    return storable_text(text)[:TEXT_LIMIT]
