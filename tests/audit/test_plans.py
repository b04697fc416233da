"""Each listed query on 200,000 entries reads by its index. The rows are never committed: the transaction is undone."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.audit.filters import EntryFilters
from apps.audit.pictures import calls_count, entry_facets, entry_histogram
from apps.audit.selectors import call_entries, calls, cursor_text, entries
from tests import database

pytestmark = [pytest.mark.django_db]

CALLS = 100_000
WITH_WORDS = 40_000
START = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
END = START + timedelta(days=27)
OWN, OTHER = "plans", "plans-beside"
"""Environments of nobody else: a tally that waits for this transaction to end would wait for ever."""
WITHIN: dict[str, Any] = {"environment": OWN, "since": START, "until": END}
_CALL = "lpad(to_hex(g), 32, '0')::uuid"
_AT = f"timestamptz '{START.isoformat()}' + g * interval '{27 * 86_400_000_000 // CALLS} microseconds'"
_NAMED = (
    f"(ARRAY['{OWN}','{OTHER}'])[1 + (g %% 5 = 0)::int], 'agent-' || g %% 40, 'agent:a:' || g %% 20000,"
    " 'chat-' || g %% 6, 'sender-' || g %% 2000, 'tool-' || g %% 50"
).replace("%%", "%")
ENTRIES = f"""
INSERT INTO audit_entry (at, id, chain_id, seq, format, kind, actor, environment, agent, session_key, channel, sender,
    tool, call_id, approval_id, status, duration_ms, decision, decision_layer, decision_label, decision_rule,
    snapshot_digest, trace_id, prev_hash, hash)
SELECT {_AT} + part * interval '1 millisecond', lpad(to_hex(g * 2 + part), 32, 'f')::uuid, '{UUID(int=1)}',
    g * 2 + part, 2, (ARRAY['call_intent', 'call_outcome'])[part + 1], 'agent:' || g % 40, {_NAMED}, {_CALL}, NULL,
    CASE WHEN part = 0 THEN '' WHEN g % 50 = 0 THEN 'failed' ELSE 'completed' END, g % 900, 'allow', '', '', '',
    'd' || g % 24, 'trace-' || g, '', ''
FROM generate_series(1, {CALLS}) AS g, generate_series(0, 1) AS part
"""
WORDS = f"""
INSERT INTO audit_words (at, entry_id, head_at, head_id, words)
SELECT {_AT} + interval '1 millisecond', lpad(to_hex(g * 2 + 1), 32, 'f')::uuid, {_AT},
    lpad(to_hex(g * 2), 32, 'f')::uuid, array_to_tsvector(ARRAY['word' || g % 500, 'term' || g % 3000, 'case' || g,
        '=t:trace-' || g, '=s:d' || g % 24, '=a:agent:' || g % 40, '=c:chat-' || g % 6, '=r:rule-' || g % 4000,
        '=p:' || {_CALL}, '=m:' || length(ltrim((g % 900)::bit(24)::text, '0'))])
FROM generate_series(1, {WITH_WORDS}) AS g
"""
TALLIES = f"""
INSERT INTO audit_tally SELECT '{OWN}', step, '', '', at, 9, 8, 1, 0, 9 FROM (VALUES (60), (3600)) AS s (step),
    generate_series(timestamptz '{START.isoformat()}', '{END.isoformat()}', make_interval(secs => step)) AS at
"""
LARGE = re.compile(r"audit_(entry|words|content|tally)")


@pytest.fixture(scope="module")
def filled(django_db_setup: None, django_db_blocker: Any) -> Iterator[psycopg.Connection[Any]]:
    """A transaction of the owner in which 200,000 entries and their words are there."""
    with django_db_blocker.unblock(), database.owner_connection() as owner:
        owner.autocommit = False
        for statement in (ENTRIES, WORDS, TALLIES):
            owner.execute(statement.encode())
        owner.execute("ANALYZE audit_entry, audit_words, audit_tally")
        owner.execute("SET LOCAL max_parallel_workers_per_gather = 0")
        try:
            yield owner
        finally:
            owner.rollback()


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


def read_by(owner: psycopg.Connection[Any], ask: Callable[[], object]) -> set[str]:
    """Name the indexes by which the statements of a question read; none may walk through a large table."""
    with CaptureQueriesContext(connection) as asked:
        ask()
    names: set[str] = set()
    for query in asked.captured_queries:
        if not LARGE.search(query["sql"]) or not query["sql"].startswith(("SELECT", "WITH")):
            continue
        plan = owner.execute(f"EXPLAIN (FORMAT JSON) {query['sql']}".encode()).fetchall()[0][0]
        for node in nodes((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]):
            walked = node["Node Type"] == "Seq Scan" and LARGE.match(node["Relation Name"])
            assert not walked or node["Plan Rows"] < 1000, (query["sql"], node)
            names |= {node["Index Name"]} if "Index Name" in node else set()
    return names


GIN, HEADS = r"audit_words_.*words_idx", r"audit_entry_.*environment_at_id_idx"


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({}, HEADS),
        ({"agent": ("agent-7",)}, r"agent_at_id_idx|environment_at_id_idx"),
        ({"tool": ("tool-7",)}, r"tool_status_at_id_idx|environment_at_id_idx"),
        ({"session_key": ("agent:a:77",)}, r"session_key_at_id_idx"),
        ({"sender": "sender-77"}, r"sender_at_id_idx"),
        ({"status": ("failed",)}, r"kind_status_at_id_idx|audit_entry_.*_pkey"),
        ({"trace_id": "trace-77"}, GIN),
        ({"rule": "rule-77"}, GIN),
        ({"actor": "agent:77"}, GIN),
        ({"snapshot_digest": "d77"}, GIN),
        ({"approval_id": UUID(int=77)}, GIN),
        ({"text": "case77"}, GIN),
        ({"text": "word77 term77"}, GIN),
        ({"text": "word77", "sender": "sender-77"}, GIN),
        ({"call_id": UUID(int=77)}, r"call_id_idx"),
    ],
)
def test_each_filter_reads_by_its_index(filled: psycopg.Connection[Any], filters: dict[str, Any], index: str) -> None:
    names = read_by(filled, lambda: calls(EntryFilters(**WITHIN | filters)))
    assert any(re.search(index, name) for name in names), names


def test_a_deep_page_begins_where_the_last_one_ended(filled: psycopg.Connection[Any]) -> None:
    deep = cursor_text((START + timedelta(days=2), UUID(int=5), None))
    names = read_by(filled, lambda: calls(EntryFilters(**WITHIN), after=deep))
    assert any(re.search(HEADS, name) for name in names), names


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda: entry_histogram(EntryFilters(**WITHIN), at=END), r"audit_tally"),
        (lambda: entry_facets(EntryFilters(**WITHIN), at=END), r"audit_tally"),
        (lambda: calls_count(EntryFilters(sender="sender-7", **WITHIN)), r"sender_at_id_idx"),
        (lambda: entries(EntryFilters(kind=("sign_in",), **WITHIN)), r"kind_status_at_id_idx"),
        (lambda: entries(EntryFilters(text="case77", **WITHIN)), GIN),
        (lambda: call_entries(UUID(int=77)), r"call_id_idx"),
    ],
)
def test_each_picture_and_list_reads_by_its_index(
    filled: psycopg.Connection[Any], ask: Callable[[], object], index: str
) -> None:
    names = read_by(filled, ask)
    assert any(re.search(index, name) for name in names), names
