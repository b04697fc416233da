"""Inside an installation whose ledger was built: follow it, look for things, take them away, verify; figures as JSON.

`python -m bench._audit_find follow|find|plans|export|verify`.
"""

import json
import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")

DEPTH, ROUNDS, PAGES, VERIFIED, EXPORTED = 1_000_000, 30, 15, 1_000_000, 1_000_000
SAMPLE = """
SELECT environment, agent, tool, sender, session_key FROM audit_entry TABLESAMPLE SYSTEM (0.05)
WHERE call_id IS NOT NULL LIMIT 400
"""


def main() -> None:
    """Do one part."""
    import django

    django.setup()
    parts: dict[str, Callable[[], Any]] = {
        "follow": follow,
        "find": find,
        "plans": plans,
        "export": export,
        "verify": verify,
    }
    sys.stdout.write(json.dumps(parts[sys.argv[1]]()))


def follow() -> dict[str, float]:
    """Bring the index of words up to the last entry, then say how the tables lie."""
    from django.db import connection

    from apps.audit import following

    entries = following.follow_lag(datetime.now(UTC)).entries
    began = time.perf_counter()
    while following.follow(limit_s=30.0):
        pass
    took = time.perf_counter() - began
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE audit_entry; ANALYZE audit_content; ANALYZE audit_words")
    return {"entries": entries, "seconds": took}


def find() -> dict[str, list[float]]:
    """Ask what the pages ask, with values that occur; seconds in SQL, of pages the seconds of the whole answer."""
    from django.db import connection

    from apps.audit.filters import EntryFilters
    from apps.audit.pictures import entry_histogram
    from apps.audit.selectors import calls, cursor_text, entries

    draw, now = random.Random(6), datetime.now(UTC)
    with connection.cursor() as cursor:
        cursor.execute(SAMPLE)
        sample = cursor.fetchall()
        cursor.execute("SELECT at, id, call_id FROM audit_entry ORDER BY at DESC, id DESC OFFSET %s LIMIT 1", [DEPTH])
        deep = cursor.fetchone()
    names = ("environment", "agent", "tool", "sender", "session_key")
    rows = [dict(zip(names, row, strict=True)) for row in sample]
    week, found = now - timedelta(days=7), dict[str, list[float]]()
    kinds: dict[str, Callable[[dict[str, Any]], EntryFilters]] = {
        "agent": lambda row: EntryFilters(environment=row["environment"], agent=(row["agent"],)),
        "agent, 7 days": lambda row: EntryFilters(environment=row["environment"], agent=(row["agent"],), since=week),
        "tool and status": lambda row: EntryFilters(tool=(row["tool"],), status=(draw.choice(("failed", "denied")),)),
        "sender": lambda row: EntryFilters(environment=row["environment"], sender=row["sender"]),
        "session": lambda row: EntryFilters(environment=row["environment"], session_key=(row["session_key"],)),
        "nothing": lambda row: EntryFilters(environment=row["environment"]),
    }
    for name, filters_of in kinds.items():
        chosen = [filters_of(draw.choice(rows)) for _ in range(ROUNDS)]
        found[f"filter: {name}"] = [in_sql(lambda each=each: calls(each)) for each in chosen]  # type: ignore[misc]
    words = [EntryFilters(environment="production", text=two_words(draw)) for _ in range(ROUNDS)]
    found["two words"] = [in_sql(lambda each=each: calls(each)) for each in words]  # type: ignore[misc]
    span = EntryFilters(environment="production", since=week, until=now)
    found["histogram of a week"] = [in_sql(lambda: entry_histogram(span, at=now)) for _ in range(ROUNDS)]
    if deep is not None:
        cursor_deep = cursor_text(deep)
        found["keyset"] = [in_sql(lambda: entries(EntryFilters(), after=cursor_deep)) for _ in range(ROUNDS)]
    return found | {"first page": pages([row["agent"] for row in rows])}


def plans() -> dict[str, list[str]]:
    """Name for each listed question the large tables that would be walked whole."""
    from bench._audit_plans import walked

    return walked()


def two_words(draw: random.Random) -> str:
    """Take one frequent word and one that is less so."""
    from bench._audit_rows import COMMON, ENDS, STARTS

    return f"{draw.choice(COMMON)} {draw.choice(STARTS)}{draw.choice(ENDS)}"


def in_sql(ask: Callable[[], object]) -> float:
    """Ask twice and say how long the statements of the second time took together."""
    from django.db import connection

    ask()
    spent = [0.0]

    def timed(execute: Any, *given: Any) -> Any:
        began = time.perf_counter()
        try:
            return execute(*given)
        finally:
            spent[0] += time.perf_counter() - began

    with connection.execute_wrapper(timed):
        ask()
    return spent[0]


def pages(agents: list[str]) -> list[float]:
    """Open the page of the ledger as an auditor, with a filter each time."""
    from django.test import Client
    from django.test.utils import override_settings

    from apps.accounts.models import User

    browser, times = Client(), []
    browser.force_login(User.objects.get_or_create(username="bench", defaults={"role": "admin"})[0])
    with override_settings(ALLOWED_HOSTS=["*"]):
        for number in range(PAGES + 2):
            began = time.perf_counter()
            answer = browser.get("/audit/", {"span": "all", "agent": agents[number % len(agents)]})
            times.append(time.perf_counter() - began)
            if answer.status_code != 200:
                raise RuntimeError(f"the page of the ledger answered {answer.status_code}")
    return times[2:]


def export() -> dict[str, float]:
    """Take turns: entries as JSONL to a file, and the same rows by COPY to a file."""
    from django.db import connection

    from apps.audit.exports import entry_export
    from apps.audit.filters import EntryFilters

    with connection.cursor() as cursor:
        cursor.execute("SELECT at FROM audit_entry ORDER BY at DESC OFFSET %s LIMIT 1", [EXPORTED])
        row = cursor.fetchone()
    since = row[0] if row else datetime(2000, 1, 1, tzinfo=UTC)
    ours, copied, lines = list[float](), list[float](), 0
    for _ in range(2):
        with timed_into(ours), open(os.devnull, "wb") as file:  # noqa: PTH123
            lines = 0
            for block in entry_export(EntryFilters(since=since), "jsonl"):
                lines += block.count(b"\n")
                file.write(block)
        with timed_into(copied), open(os.devnull, "wb") as file:  # noqa: PTH123
            copy_to(file, since)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"lines": lines, "ours": min(ours), "copy": min(copied), "peak_mb": peak}


def copy_to(file: Any, since: datetime) -> None:
    from django.db import connection

    statement = (
        "COPY (SELECT * FROM audit_entry AS e LEFT JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id"
        f" WHERE e.at >= '{since.isoformat()}' ORDER BY e.at, e.id) TO STDOUT (FORMAT csv)"
    )
    connection.ensure_connection()
    with connection.connection.cursor() as cursor, cursor.copy(statement) as copied:
        for block in copied:
            file.write(block)


@contextmanager
def timed_into(times: list[float]) -> Iterator[None]:
    """Add the seconds of a block."""
    began = time.perf_counter()
    yield
    times.append(time.perf_counter() - began)


def verify() -> dict[str, float]:
    """Verify whole chains until they hold as many entries as are wanted."""
    from apps.audit.models import Boot
    from apps.audit.verification import verify_chains

    chosen, total = [], 0
    for boot_id, seq in Boot.objects.order_by("seq").values_list("id", "seq"):
        if total >= VERIFIED:
            break
        chosen.append(boot_id)
        total += seq
    began = time.perf_counter()
    report = verify_chains(chain_ids=chosen)
    took = time.perf_counter() - began
    return {"entries": report.entries, "seconds": took, "problems": len(report.problems)}


if __name__ == "__main__":
    main()
