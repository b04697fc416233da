"""Whether each question that people ask of the ledger is read by an index, however many entries there are."""

import json
import random
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

LARGE = re.compile(r"audit_(entry|content|words)")
FEW_ROWS = 5_000
"""A month that has hardly begun may be read whole."""
SAMPLE = """
SELECT environment, agent, tool, sender, session_key, decision_rule, trace_id, actor, snapshot_digest, approval_id,
    call_id, at, id
FROM audit_entry TABLESAMPLE SYSTEM (1) REPEATABLE (6) WHERE kind = 'approval_asked' LIMIT 200
"""


def walked() -> dict[str, list[str]]:
    """Give for each listed question the large tables that its plan would walk whole: none, where indexes are used."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(SAMPLE)
        assert cursor.description is not None
        names = [column.name for column in cursor.description]
        rows = cursor.fetchall()
    row = dict(zip(names, random.Random(6).choice(rows), strict=True))
    return {name: sorted(set(_walked_by(ask))) for name, ask in _questions(row).items()}


def _questions(row: dict[str, Any]) -> dict[str, Callable[[], object]]:
    from apps.audit.filters import EntryFilters
    from apps.audit.pictures import calls_count, entry_facets, entry_histogram
    from apps.audit.selectors import call_entries, calls, cursor_text, entries
    from bench._audit_rows import COMMON, ENDS, STARTS

    now = datetime.now(UTC)
    week = {"environment": row["environment"], "since": now - timedelta(days=7), "until": now}
    filters: dict[str, dict[str, Any]] = {
        "no filter": {},
        "agent": {"agent": (row["agent"],)},
        "tool": {"tool": (row["tool"],)},
        "tool and status": {"tool": (row["tool"],), "status": ("failed",)},
        "session": {"session_key": (row["session_key"],)},
        "sender": {"sender": row["sender"]},
        "rule": {"rule": row["decision_rule"]},
        "trace": {"trace_id": row["trace_id"]},
        "actor": {"actor": row["actor"]},
        "snapshot": {"snapshot_digest": row["snapshot_digest"]},
        "approval": {"approval_id": row["approval_id"]},
        "call": {"call_id": row["call_id"]},
        "a frequent word": {"text": COMMON[0]},
        "two words": {"text": f"{COMMON[8]} {STARTS[-1]}{ENDS[1]}"},
    }
    listed = {
        name: lambda given=given: calls(EntryFilters(environment=row["environment"], **given))
        for name, given in filters.items()
    }
    deep = cursor_text((row["at"], row["id"], None))
    return listed | {
        "a deep page": lambda: calls(EntryFilters(), after=deep),
        "a deep page of entries": lambda: entries(EntryFilters(), after=deep),
        "histogram of a week": lambda: entry_histogram(EntryFilters(**week), at=now),
        "facets of a week": lambda: entry_facets(EntryFilters(**week), at=now),
        "calls of a sender in a week": lambda: calls_count(EntryFilters(sender=row["sender"], **week)),
        "one call": lambda: call_entries(row["call_id"]),
    }


def _walked_by(ask: Callable[[], object]) -> Iterator[str]:
    from django.db import connection

    asked: list[tuple[str, Any]] = []

    def noted(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        asked.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(noted):
        ask()
    for statement, values in asked:
        if not LARGE.search(statement) or not statement.lstrip().startswith(("SELECT", "WITH")):
            continue
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", values)
            found = cursor.fetchall()[0][0]
        for node in _nodes((json.loads(found) if isinstance(found, str) else found)[0]["Plan"]):
            name = node.get("Relation Name", "")
            if node["Node Type"].endswith("Seq Scan") and LARGE.match(name) and _is_large(name):
                yield name


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


def _is_large(table: str) -> bool:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE oid = %s::regclass", [table])
        return bool(cursor.fetchone()[0] > FEW_ROWS)
