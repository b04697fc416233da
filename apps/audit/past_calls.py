"""Calls as they were decided, those that are alike together: of a stretch of time, part by part, oldest first; or what
was called since somebody looked last.

Two calls are alike when the same snapshot decided the same about the same tool in the same context. PostgreSQL puts
them together, so that whoever asks another policy about them asks once.
"""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction

from apps.audit.queries import IS_HEAD
from apps.audit.walking import WORK_MEMORY, Heads, Place, heads_now

PART_CALLS: Final = 100_000
# The planner takes a part for a handful of rows. Left to itself it looks each content up, and sorts the texts.
TOGETHER: Final = f"{WORK_MEMORY}; SET LOCAL enable_nestloop = off; SET LOCAL enable_sort = off"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Which calls: those of an environment that began from `since` on, and before `until`."""

    environment: str
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class AlikeCalls:
    """Calls that are alike, and how many they are.

    Attributes:
        context: what the record kept of it, as JSON; None where it kept none, and then `columns` tell what is known.
        lacks: members that were too long to keep.
        layer, label: what decided where not everything let it pass; only layers of the policy have a label.
        is_found: it came out of a run's tool search.
        params: where they were asked for, and nothing in them is masked.
        newest: the id of one of them, as it is written.
    """

    tool: str
    agent: str
    session_key: str
    context: str | None
    lacks: str | None
    columns: tuple[str, str]
    decision: str
    layer: str
    label: str
    digest: str
    is_found: bool
    params: Mapping[str, Any] | None
    count: int
    newest: str


_WITHIN: Final = f"e.environment = %s AND e.at >= %s AND e.at < %s AND {IS_HEAD}"
_END: Final = (
    f"SELECT e.at, e.id FROM audit_entry AS e WHERE {_WITHIN} AND (e.at, e.id) > (%s, %s)"
    " ORDER BY e.at, e.id OFFSET %s LIMIT 1"
)
_ALIKE: Final = """
SELECT h.tool, h.agent, h.session_key, h.context, h.lacks, h.channel, h.sender, h.decision, h.decision_layer,
    h.decision_label, h.snapshot_digest, h.is_found, h.params, count(*), max(h.call_id::text)
FROM (
    SELECT e.tool, e.agent, e.session_key, e.decision, e.decision_layer, e.decision_label, e.snapshot_digest, e.call_id,
        (c.changes -> 'context')::text AS context, (c.changes -> 'context_lacks')::text AS lacks,
        CASE WHEN c.changes ? 'context' THEN '' ELSE e.channel END AS channel,
        CASE WHEN c.changes ? 'context' THEN '' ELSE e.sender END AS sender,
        coalesce(c.changes ? 'tool_search', false) AS is_found,
        CASE WHEN e.tool = ANY(%s) AND c.masked IS NULL THEN c.params::text END AS params
    FROM {entries} LEFT JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id AND {content}
    WHERE {where}
) AS h
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
"""
_PART: Final = _ALIKE.format(
    entries="audit_entry AS e",
    content="c.at >= %s AND c.at <= %s",
    where=f"{_WITHIN} AND e.at <= %s AND (e.at, e.id) > (%s, %s) AND (e.at, e.id) <= (%s, %s)",
)
_NEW: Final = _ALIKE.format(
    entries="unnest(%s::uuid[], %s::bigint[], %s::bigint[]) AS s (chain_id, after, until)"
    " JOIN audit_entry AS e ON e.chain_id = s.chain_id AND e.seq > s.after AND e.seq <= s.until",
    content="c.at >= %s",
    where=f"e.environment = %s AND e.at >= %s AND {IS_HEAD}",
)
# Few entries are looked up by their places in their chains: the ledger is not read whole for them.
BY_PLACE: Final = "; ".join(
    f"SET LOCAL {name} = off" for name in ("jit", "enable_seqscan", "enable_hashjoin", "enable_mergejoin")
)
_LAST: Final = UUID(int=2**128 - 1)
_FIRST: Final = UUID(int=0)


def past_calls_count(stretch: Stretch) -> int:
    """Count the calls of a stretch."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM audit_entry AS e WHERE {_WITHIN}", _bounds(stretch))
        found = cursor.fetchone()
    return int(found[0])


def past_calls_any(stretch: Stretch) -> bool:
    """Say whether anything was called in a stretch."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT EXISTS (SELECT FROM audit_entry AS e WHERE {_WITHIN})", _bounds(stretch))
        found = cursor.fetchone()
    return bool(found[0])


def past_calls_part(
    stretch: Stretch, after: Place | None, *, with_params_of: Collection[str] = (), size: int = PART_CALLS
) -> tuple[Iterator[AlikeCalls], Place | None]:
    """Give the part of a stretch that follows a place, and where it ends; None when it is the last one.

    Args:
        with_params_of: tools whose calls are alike only with the same params.
    """
    start = Place(stretch.since, _FIRST) if after is None else after
    with connection.cursor() as cursor:
        cursor.execute(_END, [*_bounds(stretch), start.at, start.id, size - 1])
        found = cursor.fetchone()
    end = None if found is None else Place(*found)
    return _alike(stretch, start, end or Place(stretch.until, _LAST), with_params_of), end


def _alike(stretch: Stretch, start: Place, end: Place, with_params_of: Collection[str]) -> Iterator[AlikeCalls]:
    within: list[Any] = [stretch.environment, start.at, stretch.until, end.at, start.at, start.id, end.at, end.id]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(TOGETHER)
        cursor.execute(_PART, [list(with_params_of), start.at, end.at, *within])
        rows = cursor.fetchall()
    return map(_read, rows)


@dataclass(frozen=True, slots=True)
class NewCalls:
    """Calls since somebody looked last.

    Attributes:
        heads: up to where each chain is read; the next look begins there.
        is_all: nothing was left for the next look.
    """

    found: tuple[AlikeCalls, ...]
    heads: Heads
    is_all: bool


def new_calls(
    environment: str, since: datetime, heads: Heads, *, with_params_of: Collection[str] = (), size: int = PART_CALLS
) -> NewCalls:
    """Give the calls of an environment that came into the ledger after the heads of its chains were seen.

    An entry and the head of its chain move in one transaction: none is given twice, or missed, whatever its instant.

    Args:
        since: calls that began before are left out.
        size: so many entries are read, at most.
    """
    tops = heads_now()
    spans: list[tuple[str, int, int]] = []
    left = size
    for chain, top in tops.items():
        after = heads.get(chain, 0)
        until = min(top, after + left)
        if until > after:
            spans.append((chain, after, until))
            left -= until - after
    reached = {**heads, **{chain: until for chain, _after, until in spans}}
    is_all = all(reached.get(chain, 0) >= top for chain, top in tops.items())
    return NewCalls(tuple(_new(environment, since, spans, with_params_of)) if spans else (), reached, is_all)


def _new(
    environment: str, since: datetime, spans: list[tuple[str, int, int]], with_params_of: Collection[str]
) -> Iterator[AlikeCalls]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(BY_PLACE)
        cursor.execute(_NEW, [list(with_params_of), *map(list, zip(*spans, strict=True)), since, environment, since])
        rows = cursor.fetchall()
    return map(_read, rows)


def _read(row: tuple[Any, ...]) -> AlikeCalls:
    tool, agent, session_key, context, lacks, channel, sender, decision, layer, label, digest, *rest = row
    is_found, params, count, newest = rest
    read = None if params is None else json.loads(params)
    return AlikeCalls(
        tool=tool,
        agent=agent,
        session_key=session_key,
        context=context,
        lacks=lacks,
        columns=(channel, sender),
        decision=decision,
        layer=layer,
        label=label,
        digest=digest,
        is_found=is_found,
        params=read if isinstance(read, dict) else None,
        count=count,
        newest=newest,
    )


def _bounds(stretch: Stretch) -> list[Any]:
    return [stretch.environment, stretch.since, stretch.until]
