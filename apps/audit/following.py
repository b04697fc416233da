"""What follows the ledger behind its writers: the words of entries, and how many calls there were.

A cursor per chain says how far it has got. A step takes the next entries of one chain, writes what it makes of them and
moves the cursor in one transaction, so that nothing is missing or counted twice whatever ends it. There is one follower
at a time; whoever erases from what it wrote takes the same lock.
"""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from apps.audit.queries import DENIED, IS_END, IS_HEAD, JOINED

STEP_ENTRIES: Final = 2000
STEP_BYTES: Final = 8 * 1024 * 1024
# What one entry gives to the index: letters of its params, result, error and changes each.
LETTERS: Final = {"params": 64_000, "result": 64_000, "error": 16_000, "changes": 16_000}
# Between the first and the last entry of a call; of one that takes longer the end is found by its own words alone.
LONGEST_CALL: Final = "62 days"
LOCK: Final = "audit follower"
# Fewer entries than these a reader fetches itself before it looks; a page is then never behind.
NEAR: Final = 1000
BEHIND_S: Final = 30.0

_BEHIND = """
SELECT b.id, coalesce(f.seq, 0), b.seq FROM audit_boot AS b LEFT JOIN audit_follow AS f ON f.chain_id = b.id
WHERE b.seq > coalesce(f.seq, 0) ORDER BY b.id
"""
_NEXT = """
SELECT max(seq), min(at), max(at) FROM (
    SELECT e.seq, e.at, row_number() OVER (ORDER BY e.seq) AS number, sum(coalesce(pg_column_size(c.params), 0)
        + coalesce(pg_column_size(c.result), 0)) OVER (ORDER BY e.seq) AS bytes
    FROM (SELECT seq, at, id FROM audit_entry WHERE chain_id = %s AND seq > %s AND seq <= %s
        ORDER BY seq LIMIT %s) AS e
    LEFT JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id
) AS next WHERE bytes <= %s OR number = 1
"""
# The instants let the planner leave out the months that do not matter.
_TAKEN: Final = "e.chain_id = %s AND e.seq > %s AND e.seq <= %s AND e.at >= %s AND e.at <= %s"
_TEXTS = " || ' ' || ".join(
    f"coalesce(left(c.{name}::text, {letters}), '')" for name, letters in LETTERS.items() if name != "changes"
)
_CHANGES = f"coalesce(left(coalesce(e.changes, c.changes)::text, {LETTERS['changes']}), '')"
_CHANGES += " || ' ' || coalesce(c.decision_reason, e.decision_reason)"
_NAMED = "audit_tokens({0}.actor, {0}.channel, {0}.decision, {0}.decision_layer, {0}.decision_rule,"
_NAMED += " {0}.snapshot_digest, {0}.trace_id, {0}.approval_id, {0}.duration_ms)"
# An entry of a call answers for what the call was asked, too: all words of a search occur in one row. The beginning of
# a call whose end is at hand needs no row of its own.
_WORDS = f"""
INSERT INTO audit_words (at, entry_id, head_at, head_id, words)
SELECT e.at, e.id, coalesce(h.at, e.at), coalesce(h.id, e.id),
    audit_text_words({_TEXTS} || ' ' || {_CHANGES} || ' ' || coalesce(left(h.params::text, {LETTERS["params"]}), ''))
    || array_to_tsvector({_NAMED.format("e")} || coalesce(h.tokens, '{{}}'))
FROM audit_entry AS e
LEFT JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id AND c.at >= %s AND c.at <= %s
LEFT JOIN LATERAL (
    SELECT n.at, n.id, p.params, {_NAMED.format("n")} AS tokens
    FROM (SELECT * FROM audit_entry AS o WHERE o.call_id = e.call_id
        AND o.at >= %s::timestamptz - interval '{LONGEST_CALL}' AND o.at <= %s OFFSET 0) AS n
    LEFT JOIN audit_content AS p ON p.at = n.at AND p.entry_id = n.id
    WHERE {IS_HEAD.replace("e.", "n.")} ORDER BY n.at, n.id LIMIT 1
) AS h ON e.call_id IS NOT NULL AND NOT ({IS_HEAD})
WHERE {_TAKEN} AND NOT (e.kind IN ('call_intent', 'approval_asked') AND EXISTS (
    SELECT FROM (SELECT o.kind, o.chain_id, o.seq FROM audit_entry AS o WHERE o.call_id = e.call_id
        AND o.at >= %s AND o.at <= %s OFFSET 0) AS n
    WHERE n.kind = 'call_outcome' AND n.chain_id = e.chain_id AND n.seq > e.seq AND n.seq <= %s))
ON CONFLICT DO NOTHING
"""
_TALLY = f"""
INSERT INTO audit_tally AS t (environment, step_s, dimension, value, start, begun, ran, denied, failed, ended)
SELECT e.environment, steps.step_s, named.dimension, named.value,
    date_bin(make_interval(secs => steps.step_s), e.at, '2000-01-01 00:00:00+00') AS start,
    count(*) FILTER (WHERE {IS_HEAD}) AS begun,
    count(*) FILTER (WHERE e.kind = 'call_outcome' AND e.status NOT IN ('failed', 'unknown')) AS ran,
    count(*) FILTER (WHERE {DENIED}) AS denied,
    count(*) FILTER (WHERE e.kind = 'call_outcome' AND e.status IN ('failed', 'unknown')) AS failed,
    count(*) FILTER (WHERE {IS_END}) AS ended
FROM audit_entry AS e
CROSS JOIN LATERAL (VALUES ('', ''), ('agent', e.agent), ('tool', e.tool), ('channel', e.channel),
    ('layer', e.decision_layer),
    ('status', CASE WHEN NOT ({IS_END}) THEN '' WHEN {JOINED} THEN 'joined' WHEN {DENIED} THEN 'denied'
        ELSE e.status END)
) AS named (dimension, value)
CROSS JOIN (VALUES (60), (3600)) AS steps (step_s)
WHERE (steps.step_s = 3600 OR named.dimension = '') AND e.call_id IS NOT NULL
    AND ({IS_HEAD} OR {IS_END}) AND (named.dimension = '' OR named.value <> '') AND {{taken}}
GROUP BY 1, 2, 3, 4, 5
ON CONFLICT (environment, step_s, dimension, value, start) DO UPDATE SET begun = t.begun + excluded.begun,
    ran = t.ran + excluded.ran, denied = t.denied + excluded.denied, failed = t.failed + excluded.failed,
    ended = t.ended + excluded.ended
"""
# Few rows are looked up by their keys: the planner, whose figures of a young month are old, must not read it whole.
_BY_KEY = "SET LOCAL jit = off; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off;"
_BY_KEY += " SET LOCAL enable_mergejoin = off"
_FREELY = "; ".join(f"SET LOCAL {name} = on" for name in ("enable_seqscan", "enable_hashjoin", "enable_mergejoin"))
_MOVE = """
INSERT INTO audit_follow (chain_id, seq) VALUES (%s, %s)
ON CONFLICT (chain_id) DO UPDATE SET seq = excluded.seq
"""
_OLDEST = """
SELECT min(e.at) FROM audit_boot AS b LEFT JOIN audit_follow AS f ON f.chain_id = b.id
JOIN LATERAL (SELECT at FROM audit_entry WHERE chain_id = b.id AND seq > coalesce(f.seq, 0) ORDER BY seq LIMIT 1)
    AS e ON true
WHERE b.seq > coalesce(f.seq, 0)
"""


@dataclass(frozen=True, slots=True)
class FollowLag:
    """How far the follower is behind: entries that it has not read, and the age of the oldest of them."""

    entries: int
    seconds: float

    @property
    def is_late(self) -> bool:
        return self.seconds > BEHIND_S


def follow(*, limit_s: float) -> int:
    """Read on where the follower stopped, for so many seconds at least once; nothing while another one reads.

    Returns:
        How many entries are left.
    """
    ends_at = time.monotonic() + limit_s
    while behind := _behind():
        chain_id, done, top = behind[0]
        if not _step(chain_id, done, top) or time.monotonic() >= ends_at:
            break
    return sum(top - done for _chain, done, top in _behind())


def follow_near(*, limit_s: float = 0.25) -> int:
    """Read what little is left before somebody looks; a page is then not behind.

    Returns:
        How many entries are left, 0 where nothing is missing.
    """
    left = sum(top - done for _chain, done, top in _behind())
    return follow(limit_s=limit_s) if 0 < left <= NEAR else left


def follow_lag(at: datetime) -> FollowLag:
    """Say how far the follower is behind."""
    left = sum(top - done for _chain, done, top in _behind())
    if not left:
        return FollowLag(0, 0.0)
    with connection.cursor() as cursor:
        cursor.execute(_OLDEST)
        oldest = cursor.fetchone()[0]
    return FollowLag(left, max((at - oldest).total_seconds(), 0.0) if oldest is not None else 0.0)


def follow_forget(cursor: CursorWrapper, entries: Sequence[tuple[datetime, UUID]]) -> None:
    """Take the words of entries out of the index, in the transaction that takes their content away.

    Waits for the follower, so that it cannot write words of what goes meanwhile.
    """
    cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [LOCK])
    keys = [at for at, _ in entries], [entry_id for _, entry_id in entries]
    gone = "(SELECT * FROM unnest(%s::timestamptz[], %s::uuid[]))"
    cursor.execute(f"DELETE FROM audit_words WHERE (at, entry_id) IN {gone} OR (head_at, head_id) IN {gone}", keys * 2)


def tally_recount(cursor: CursorWrapper, *, since: datetime, until: datetime) -> None:
    """Count the calls of a span anew, by whole hours, after entries of it were purged."""
    cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [LOCK])
    hours = (
        "date_trunc('hour', %s::timestamptz, 'UTC')",
        "date_trunc('hour', %s::timestamptz, 'UTC') + interval '1 hour'",
    )
    cursor.execute(f"DELETE FROM audit_tally WHERE start >= {hours[0]} AND start < {hours[1]}", [since, until])
    followed = (
        f"e.at >= {hours[0]} AND e.at < {hours[1]}"
        " AND e.seq <= (SELECT f.seq FROM audit_follow AS f WHERE f.chain_id = e.chain_id)"
    )
    cursor.execute(_TALLY.format(taken=followed), [since, until])


def _behind() -> list[tuple[UUID, int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(_BEHIND)
        return list(cursor.fetchall())


def _step(chain_id: UUID, done: int, top: int) -> bool:
    with transaction.atomic(), connection.cursor() as cursor:
        if not _is_alone(cursor, chain_id, done):
            return False
        cursor.execute(_BY_KEY)
        cursor.execute(_NEXT, [chain_id, done, top, STEP_ENTRIES, STEP_BYTES])
        last, *span = cursor.fetchone()
        if last is not None:
            taken: list[Any] = [chain_id, done, last, *span]
            cursor.execute(_WORDS, [*span, *span, *taken, *span, last])
            cursor.execute(_TALLY.format(taken=_TAKEN), taken)
        cursor.execute(_MOVE, [chain_id, last or top])  # what was purged is not there to be read
        cursor.execute(_FREELY)
    return True


def _is_alone(cursor: CursorWrapper, chain_id: UUID, done: int) -> bool:
    cursor.execute("SELECT pg_try_advisory_xact_lock(hashtext(%s))", [LOCK])
    if not cursor.fetchone()[0]:
        return False
    cursor.execute("SELECT coalesce(max(seq), 0) FROM audit_follow WHERE chain_id = %s", [chain_id])
    return bool(cursor.fetchone()[0] == done)
