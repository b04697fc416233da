"""Reading the ledger: entries, calls, pictures of them, and its own state."""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from apps.audit.chain import entry_id_instant
from apps.audit.errors import FilterError
from apps.audit.filters import EARLIEST_YEAR, LATEST_YEAR, EntryFilters
from apps.audit.following import follow_near
from apps.audit.models import Boot
from apps.audit.queries import (
    DENIED_BY_PERSON,
    IS_HEAD,
    JOINED,
    RUNNING,
    SELECTED,
    WITH_CONTENT,
    Where,
    calls_where,
    entries_where,
)
from apps.audit.rows import CallRecord, EntryRow, call_from_entries, read_entry
from apps.audit.words import Wanted

PAGE = 50
PAGE_LIMIT = 500
NEAR_ROWS = 4000
LONGEST_CALL = timedelta(days=62)  # as the follower has it
LIKE_SPAN = timedelta(days=90)
RUNNING_SPAN = timedelta(hours=1)
INTENTS_LOOKED_AT = 20_000
STRETCH_MONTHS = (1, 4)
CLOCKS_APART = timedelta(hours=1)


# The content of few entries: each by its key, in the one month where it lies, whatever the planner expects.
_LOOKED_UP = (
    "audit_entry AS e LEFT JOIN LATERAL"
    " (SELECT * FROM audit_content AS k WHERE k.at = e.at AND k.entry_id = e.id LIMIT 1) AS c ON TRUE"
)
_Found = tuple[datetime, UUID, UUID | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPage:
    """A page of entries, newest first. `older` and `newer` are cursors of the neighbours, None where there is none."""

    rows: tuple[EntryRow, ...]
    older: str | None
    newer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPage:
    """A page of calls, newest first. `older` and `newer` are cursors of the neighbours, None where there is none."""

    rows: tuple[CallRecord, ...]
    older: str | None
    newer: str | None


@dataclass(frozen=True, slots=True)
class LikeCounts:
    """Past calls with exactly these params, and how many of them a person denied."""

    calls: int
    denied: int


@dataclass(frozen=True, slots=True)
class PastCommand:
    """Calls of one agent with the same (masked) params: how many there were, and how many a person denied."""

    agent: str
    params: dict[str, Any]
    calls: int
    denied: int


@dataclass(frozen=True, slots=True)
class LedgerState:
    """How long the ledger is, in how many chains, and the newest head."""

    entries: int
    chains: int
    head: bytes | None


def entries(filters: EntryFilters, *, after: str = "", before: str = "", limit: int = PAGE) -> EntryPage:
    """Give a page of entries.

    Args:
        after: cursor from `older`: entries older than it.
        before: cursor from `newer`: entries newer than it. At most one of both.
    Raises:
        FilterError: the cursor is not one of ours.
    """
    found, older, newer = _page(entries_where(filters), after=after, before=before, limit=limit)
    rows = _entries_near(found)
    return EntryPage(rows=tuple(reversed(rows)), older=older, newer=newer)


def _entries_near(found: Sequence[_Found]) -> list[EntryRow]:
    """Read the entries of a page; months in which none of them lies are not looked at."""
    if not found:
        return []
    instants, ids = [at for at, _, _ in found], [entry_id for _, entry_id, _ in found]
    keys = "(e.at, e.id) IN (SELECT * FROM unnest(%s::timestamptz[], %s::uuid[]))"
    return _load(f"{keys} AND e.at >= %s AND e.at <= %s", instants, ids, min(instants), max(instants))


def calls(filters: EntryFilters, *, after: str = "", before: str = "", limit: int = PAGE) -> CallPage:
    """Give a page of calls, one record each, with everything that is known of them. Cursors as in `entries`.

    With a status, calls stand at the time they ended, otherwise at the time they began.

    Raises:
        FilterError: the cursor is not one of ours.
    """
    found, older, newer = _page(calls_where(filters), after=after, before=before, limit=limit)
    records = _calls_near(found)
    wanted = dict.fromkeys(call_id for _, _, call_id in found if call_id is not None)
    return CallPage(rows=tuple(records[call_id] for call_id in wanted), older=older, newer=newer)


def _calls_near(found: Sequence[_Found]) -> dict[UUID, CallRecord]:
    """Put together the calls of a page; months in which none of their entries can lie are not looked at."""
    if not found:
        return {}
    low, high = min(at for at, _, _ in found) - LONGEST_CALL, max(at for at, _, _ in found) + LONGEST_CALL
    return calls_by_id((call_id for _, _, call_id in found if call_id is not None), since=low, until=high)


def call_entries(call_id: UUID) -> tuple[EntryRow, ...]:
    """Give every entry of a call, oldest first; empty when the ledger knows none."""
    return tuple(_load("e.call_id = %s", call_id))


def call_record(call_id: UUID) -> CallRecord | None:
    """Put one call together; None when the ledger knows none with this id."""
    found = call_entries(call_id)
    return call_from_entries(call_id, found) if found else None


def calls_by_id(
    call_ids: Iterable[UUID], *, since: datetime | None = None, until: datetime | None = None
) -> dict[UUID, CallRecord]:
    """Put calls together by their ids; unknown ones are missing.

    Args:
        since, until: when all their entries were written, where that is known.
    """
    grouped: dict[UUID, list[EntryRow]] = {}
    bounds = [(sign, at) for sign, at in ((">=", since), ("<=", until)) if at is not None]
    within = "".join(f" AND e.at {sign} %s" for sign, _ in bounds)
    for row in _load(f"e.call_id = ANY(%s::uuid[]){within}", list(call_ids), *(at for _, at in bounds)):
        if row.call_id is not None:
            grouped.setdefault(row.call_id, []).append(row)
    return {call_id: call_from_entries(call_id, rows) for call_id, rows in grouped.items()}


def entry(entry_id: UUID) -> EntryRow | None:
    """Find one entry; its id tells its millisecond, by which the table is ordered."""
    at = entry_id_instant(entry_id)
    if at is None:
        return None
    rows = _load("e.id = %s AND e.at >= %s AND e.at < %s", entry_id, at, at + timedelta(milliseconds=1))
    return rows[0] if rows else None


def calls_like(*, environment: str, agent: str, tool: str, params: Any, until: datetime) -> LikeCounts:
    """Count calls of the last 90 days with exactly these (masked) params before a moment, of one agent or of all."""
    where = _before(environment, agent, tool, until)
    where.add("c.params = %s::jsonb", json.dumps(params))
    rows = _rows(
        f"SELECT count(*), count(*) FILTER (WHERE {_REFUSED.format('e')}) FROM {WITH_CONTENT} WHERE {where.sql}",
        where.values,
    )
    return LikeCounts(*rows[0])


def commands_past(
    *,
    environment: str,
    agent: str,
    tool: str,
    until: datetime,
    limit: int,
    but_of: Sequence[str] = (),
    but_by: Sequence[str] = (),
) -> list[PastCommand]:
    """Give the last calls of a tool before a moment, at most so many, of one agent or of all; equal ones together.

    Args:
        but_of: actors whose calls are left out.
        but_by: layers; what they decided is left out, too.
    """
    where = _before(environment, agent, tool, until)
    where.add("e.actor <> ALL(%s)", list(but_of))
    where.add("e.decision_layer <> ALL(%s)", list(but_by))
    rows = _rows(
        f"SELECT h.agent, h.params, count(*), count(*) FILTER (WHERE {_REFUSED.format('h')}) FROM ("
        f"SELECT e.agent, e.call_id, c.params FROM {WITH_CONTENT} WHERE {where.sql}"
        " ORDER BY e.at DESC, e.id DESC LIMIT %s) AS h GROUP BY h.agent, h.params",
        [*where.values, limit],
    )
    read = ((agent, params if params is None else json.loads(params), *counts) for agent, params, *counts in rows)
    return [PastCommand(agent, params, *counts) for agent, params, *counts in read if isinstance(params, dict)]


_DENIED = DENIED_BY_PERSON.replace("e.", "n.")
_REFUSED = f"EXISTS (SELECT FROM audit_entry AS n WHERE n.call_id = {{}}.call_id AND {_DENIED})"


def _before(environment: str, agent: str, tool: str, until: datetime) -> Where:
    """Find the first entries of the calls of a tool in the 90 days before a moment."""
    where = Where()
    where.add("e.environment = %s AND e.tool = %s", environment, tool)
    where.add(f"NOT {JOINED}")
    if agent:
        where.add("e.agent = %s", agent)
    where.add("e.at >= %s AND e.at < %s", until - LIKE_SPAN, until)
    where.add(IS_HEAD)
    return where


@dataclass(frozen=True, slots=True)
class CallCount:
    """How many calls an agent has, by a channel, of a tool."""

    agent: str
    channel: str
    tool: str
    count: int


def calls_running(environment: str, *, at: datetime) -> list[CallCount]:
    """Count the calls that run now, of those that began within the last hour."""
    statement = (
        "SELECT e.agent, e.channel, e.tool, count(*) FROM ("
        " SELECT * FROM audit_entry WHERE environment = %s AND kind = 'call_intent' AND at > %s AND at <= %s"
        f" ORDER BY at DESC LIMIT {INTENTS_LOOKED_AT}) AS e WHERE {RUNNING} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    )
    return [CallCount(*row) for row in _rows(statement, [environment, at - RUNNING_SPAN, at + CLOCKS_APART])]


def agent_seen(environment: str, agent: str) -> bool:
    """Say whether an agent ever made a call in the environment with a slug; in any where it is empty."""
    where = "e.environment = %s AND e.agent = %s" if environment else "e.agent = %s"
    values = [environment, agent] if environment else [agent]
    found = _rows(f"SELECT EXISTS (SELECT FROM audit_entry AS e WHERE {where} AND e.call_id IS NOT NULL)", values)
    return bool(found[0][0])


def boots_alive(at: datetime) -> list[Boot]:
    """List the processes that write to the ledger now."""
    return list(Boot.objects.filter(ended_at=None, lease_until__gte=at).order_by("started_at", "id"))


def ledger_state() -> LedgerState:
    """Say how long the ledger is and where it ends."""
    boots = list(Boot.objects.filter(seq__gt=0).order_by("-lease_until").values_list("seq", "head"))
    return LedgerState(
        entries=sum(seq for seq, _ in boots), chains=len(boots), head=bytes(boots[0][1]) if boots else None
    )


def _page(where: Where, *, after: str, before: str, limit: int) -> tuple[list[_Found], str | None, str | None]:
    """Walk the order (at, id) from a cursor, and say whether there is more in both directions."""
    limit = max(1, min(limit, PAGE_LIMIT))
    is_forward = bool(before)
    if after:
        where.add("(e.at, e.id) < (%s, %s) AND e.at <= %s", *_cursor(after), _cursor(after)[0])
    if before:
        where.add("(e.at, e.id) > (%s, %s) AND e.at >= %s", *_cursor(before), _cursor(before)[0])
    order = "ASC" if is_forward else "DESC"
    found = entries_found(where, order, limit + 1, before if is_forward else after)
    has_more = len(found) > limit
    found = found[:limit]
    if is_forward:
        found.reverse()
    if not found:
        return [], None, None
    has_older = has_more if not is_forward else True
    has_newer = has_more if is_forward else bool(after)
    oldest, newest = found[-1], found[0]
    return found, cursor_text(oldest) if has_older else None, cursor_text(newest) if has_newer else None


def entries_found(where: Where, order: str, limit: int, cursor: str = "") -> list[_Found]:
    """Walk the order (at, id) from a cursor, at most so many."""
    if where.needs_words:
        follow_near()
    if where.wanted is not None:
        found = _found_near(where, where.wanted, order, limit, cursor)
        return found if len(found) >= limit else _found_by_words(where, where.wanted, order, limit, cursor)
    return _found_in_order(where, order, limit)


def _found_in_order(where: Where, order: str, limit: int) -> list[_Found]:
    """Walk each way in the order of its index, and the ways side by side."""
    ways = where.ways()
    walked = [
        f"SELECT e.at, e.id, e.call_id FROM audit_entry AS e WHERE {sql} ORDER BY e.at {order}, e.id {order} LIMIT %s"
        for sql, _ in ways
    ]
    values = [value for _, given in ways for value in (*given, limit)]
    if len(walked) == 1:
        return _rows(walked[0], values)
    together = " UNION ALL ".join(f"({each})" for each in walked)
    return _rows(f"SELECT * FROM ({together}) AS f ORDER BY f.at {order}, f.id {order} LIMIT %s", [*values, limit])


def _found_near(where: Where, wanted: Wanted, order: str, limit: int, cursor: str) -> list[_Found]:
    """Look through the next rows of the index of words one by one: where words are frequent, they suffice.

    Where they are not, the index finds few rows, and the planner never has to guess which of both it is.
    """
    at, entry_id = where.key
    bounds, values = _word_bounds(where, order, cursor)
    near = (
        f"SELECT w.{at} AS at, w.{entry_id} AS id, w.words FROM audit_words AS w WHERE {bounds}"
        f" ORDER BY w.{at} {order}, w.{entry_id} {order} LIMIT {NEAR_ROWS}"
    )
    named = f"SELECT w.at, w.id FROM ({near}) AS w WHERE {wanted.sql}"
    return _looked_up(named, [*values, *wanted.values], where, order, limit)


def _found_by_words(where: Where, wanted: Wanted, order: str, limit: int, cursor: str) -> list[_Found]:
    """Ask the index itself, the nearest months first: it knows no order, and gives all that it has of a month."""
    at, entry_id = where.key
    bounds, values = _word_bounds(where, order, cursor)
    found: list[_Found] = []
    for within, instants in _stretches(where, order, cursor):
        named = f"SELECT w.{at} AS at, w.{entry_id} AS id FROM audit_words AS w WHERE {wanted.sql} AND {bounds}{within}"
        found += _looked_up(named, [*wanted.values, *values, *instants], where, order, limit - len(found))
        if len(found) >= limit:
            break
    return found


def _stretches(where: Where, order: str, cursor: str) -> Iterator[tuple[str, list[datetime]]]:
    """Cut time into a few stretches that end with months, the first ones short; give conditions on `w`.

    The words of a call stand where it ended, at most LONGEST_CALL after it began, by which it is found.
    """
    at, is_forward, now = where.key[0], order == "ASC", datetime.now(UTC)
    start = min(_cursor(cursor)[0] if cursor else where.until or now, now).astimezone(UTC)
    last = where.until if is_forward else where.since
    near: datetime | None = None
    for months in (*STRETCH_MONTHS, None):
        far = None if months is None else _month_of(start, months if is_forward else 1 - months)
        low, high = (near, far) if is_forward else (far, near)
        sql, values = "", list[datetime]()
        if low is not None:
            sql, values = f" AND w.{at} >= %s AND w.at >= %s", [low, low - CLOCKS_APART]
        if high is not None:
            sql, values = f"{sql} AND w.{at} < %s AND w.at < %s", [*values, high, high + LONGEST_CALL]
        yield sql, values
        if last is not None and far is not None and (last <= far if is_forward else last >= far):
            return
        near = far


def _month_of(at: datetime, later: int) -> datetime:
    """Give the first instant of a month, so many months later."""
    years, index = divmod(at.year * 12 + at.month - 1 + later, 12)
    return datetime(years, index + 1, 1, tzinfo=UTC)


def _looked_up(named: str, values: Sequence[Any], where: Where, order: str, limit: int) -> list[_Found]:
    """Look up what the index of words names, entry by entry and in order, until there are enough.

    The planner cannot tell how many entries hold two words: left to itself it walks all of them.
    """
    rest, rest_values = where.beside_words()
    return _rows(
        f"SELECT n.at, n.id, n.call_id FROM ({named} GROUP BY 1, 2 ORDER BY 1 {order}, 2 {order} OFFSET 0) AS f"
        " CROSS JOIN LATERAL (SELECT e.at, e.id, e.call_id FROM audit_entry AS e"
        f" WHERE e.at = f.at AND e.id = f.id AND {rest} LIMIT 1) AS n ORDER BY f.at {order}, f.id {order} LIMIT %s",
        [*values, *rest_values, limit],
    )


def _word_bounds(where: Where, order: str, cursor: str) -> tuple[str, list[Any]]:
    at, entry_id = where.key
    bounds, values = ["TRUE"], list[Any]()
    if cursor:
        bounds.append(f"(w.{at}, w.{entry_id}) {'>' if order == 'ASC' else '<'} (%s, %s)")
        values += _cursor(cursor)
    for sign, instant in ((">=", where.since), ("<", where.until)):
        if instant is not None:
            bounds.append(f"w.{at} {sign} %s")
            values.append(instant)
    if where.since is not None:  # no entry is older than the first of its call: earlier months are left out
        bounds.append("w.at >= %s")
        values.append(where.since)
    return " AND ".join(bounds), values


def cursor_text(found: _Found) -> str:
    """Write the place of an entry as a cursor."""
    return base64.urlsafe_b64encode(f"{found[0].isoformat()}|{found[1].hex}".encode()).decode().rstrip("=")


def _cursor(text: str) -> tuple[datetime, UUID]:
    try:
        plain = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
        at, _, entry_id = plain.partition("|")
        instant = datetime.fromisoformat(at)
        if instant.tzinfo is None:
            raise ValueError("no time zone")
        if not EARLIEST_YEAR <= instant.year <= LATEST_YEAR:
            raise ValueError("no entry is so old or so young")
        return instant, UUID(entry_id)
    except ValueError as exc:
        mistake = {"path": "cursor", "code": "invalid", "message": "cursor: not one of ours"}
        raise FilterError([mistake]) from exc


def _load(condition: str, *values: Any) -> list[EntryRow]:
    rows = _rows(f"SELECT {SELECTED} FROM {_LOOKED_UP} WHERE {condition} ORDER BY e.at, e.id", values)
    return [read_entry(row) for row in rows]


def _rows(statement: str, values: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
