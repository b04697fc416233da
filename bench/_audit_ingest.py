"""Inside an installation: record entries as calls do, copy the same rows beside, print seconds and CPU as JSON.

Each round records entries through the queue of the writer: drafts are masked, sealed, linked, committed. Then the very
rows that arrived go into tables with the same indexes and partitions by one COPY in one transaction, which is as fast
as this database stores them at all. `python -m bench._audit_ingest write SECONDS` only records.
"""

import json
import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")

ENTRIES, WARM, ROUNDS, AT_ONCE = 20_000, 4_000, 5, 2_000
TABLES = ("audit_entry", "audit_content")
SAME = """
CREATE TABLE bench_{name} (LIKE {name} INCLUDING ALL) PARTITION BY RANGE (at);
CREATE TABLE bench_{name}_now PARTITION OF bench_{name} DEFAULT;
"""
JIFFIES = os.sysconf("SC_CLK_TCK")
COMMON = "deploy build status customer invoice report branch release backup server database network"


def main() -> None:
    """Take turns, so that what else the machine does meets both alike."""
    import django

    from openclaw_admin.interpreter import settle

    django.setup()
    settle()  # as each process does that serves
    if sys.argv[1:2] == ["write"]:
        sys.stdout.write(json.dumps(recorded_for(float(sys.argv[2]))))
        return
    url = os.environ.get("DATABASE_OWNER_URL") or os.environ["DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as owner:
        for name in TABLES:
            owner.execute(sql.SQL(SAME.format(name=name)))
        fsync = owner.execute("SHOW fsync").fetchone()
        record(WARM)
        rounds = []
        for number in range(ROUNDS):
            sealed, copied = record(ENTRIES, is_sealed=True), copy(owner, number)
            rounds.append({"sealed": sealed, "copy": copied, "whole": record(ENTRIES)})
    sys.stdout.write(json.dumps({"rounds": rounds, "fsync": fsync == ("on",)}))


def drafts(count: int) -> Iterator[Any]:
    """Make calls: an intent with its params, an outcome with its result."""
    from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
    from apps.firewall.identifiers import new_id

    allow = EntryDecision(verdict="allow")
    for number in range(count // 2):
        agent, person = f"ops-{number % 40}", number % 997
        base: dict[str, Any] = {
            "actor": f"agent:{agent}", "environment": "production", "agent": agent, "channel": "telegram",
            "session_key": f"agent:{agent}:telegram:{person}", "sender": f"telegram:{100_000 + person}",
            "tool": ("exec", "read", "web_fetch", "message")[number % 4], "call_id": new_id(), "decision": allow,
            "snapshot_digest": f"{number % 7}f" * 32, "trace_id": f"{number:032x}",
        }  # fmt: skip
        params = {"command": f"grep -rn timeout /srv/report --max-count {number}", "workdir": "/srv", "limit": 50}
        yield EntryDraft(kind=EntryKind.CALL_INTENT, params=params, **base)
        result = {"content": [{"type": "text", "text": f"{COMMON} {number}"}], "reference": f"case1x2x{number}"}
        phases = {"validate": 1, "policy": 0, "hooks": 2, "run": 8, "results": 1}
        ends: dict[str, Any] = {"status": "completed", "duration_ms": 12, "phases": phases, "result": result}
        yield EntryDraft(kind=EntryKind.CALL_OUTCOME, **ends, **base)


def record(count: int, *, is_sealed: bool = False) -> dict[str, float]:
    """Record so many entries, a bounded number of which waits at a time; microseconds of one.

    Args:
        is_sealed: they were masked and digested before the clock starts, as callers do that side by side.
    """
    from apps.audit.sealing import seal_entry
    from apps.audit.services import boot_id
    from apps.audit.writer import writer

    boot_id()
    made, ledger = list(drafts(count)), writer()
    waiting: deque[Future[Any]] = deque()
    sealed = [seal_entry(draft) for draft in made] if is_sealed else map(seal_entry, made)
    clock = _Clock(backend_of("openclaw_admin audit"), count)
    for entry in sealed:
        waiting.append(ledger.submit(entry))
        if len(waiting) > AT_ONCE:
            waiting.popleft().result()
    for future in waiting:
        future.result()
    return clock.read()


def recorded_for(seconds: float) -> dict[str, float]:
    """Record until the time is over, as one of several processes."""
    record(WARM)
    count, total = 0, 0.0
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        total += record(ENTRIES)["wall"] * ENTRIES / 1e6
        count += ENTRIES
    return {"entries": count, "seconds": total}


def copy(owner: psycopg.Connection[Any], number: int) -> dict[str, float]:
    """Store the rows that arrived since the last time in tables of the same make."""
    taken = [_taken(owner, name) for name in TABLES]
    row = owner.execute("SELECT pg_backend_pid()").fetchone()
    assert row is not None
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        files = [Path(folder) / f"{number}-{name}" for name in TABLES]
        for path, block in zip(files, taken, strict=True):
            path.write_bytes(block)
        clock = _Clock(row[0], taken[0].count(b"\n"))
        with owner.transaction(), owner.cursor() as cursor:
            for name, path in zip(TABLES, files, strict=True):
                _copied(cursor, name, path)
        return clock.read()


def _taken(owner: psycopg.Connection[Any], name: str) -> bytes:
    found = owner.execute(f"SELECT max(at) FROM bench_{name}").fetchone()
    since = "'-infinity'" if found is None or found[0] is None else f"'{found[0].isoformat()}'"
    statement = f"COPY (SELECT * FROM {name} WHERE at > {since}) TO STDOUT"
    with owner.cursor() as cursor, cursor.copy(sql.SQL(statement)) as copied:
        return b"".join(bytes(block) for block in copied)


def _copied(cursor: psycopg.Cursor[Any], name: str, path: Path) -> None:
    """Have the server read the file; where its role may not, hand it over as it is."""
    may = cursor.execute("SELECT pg_has_role('pg_read_server_files', 'USAGE')").fetchone()
    if may == (True,):
        cursor.execute(sql.SQL("COPY {} FROM {}").format(sql.Identifier(f"bench_{name}"), sql.Literal(str(path))))
        return
    with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(f"bench_{name}"))) as block:
        block.write(path.read_bytes())


def backend_of(application: str) -> int:
    """Find the process of the server that works for a connection of ours."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = %s AND datname = current_database()"
            " ORDER BY backend_start DESC LIMIT 1",
            [application],
        )
        row = cursor.fetchone()
    return 0 if row is None else int(row[0])


class _Clock:
    """Microseconds an entry: wall time, CPU of this process, CPU of a server's process that runs on this machine."""

    def __init__(self, backend: int, entries: int) -> None:
        self._backend = backend
        self._entries = entries
        self._began = self._now()

    def read(self) -> dict[str, float]:
        passed = (after - before for before, after in zip(self._began, self._now(), strict=True))
        wall, here, there = (seconds * 1e6 / self._entries for seconds in passed)
        return {"wall": wall, "here": here, "there": there}

    def _now(self) -> tuple[float, float, float]:
        try:
            fields = Path(f"/proc/{self._backend}/stat").read_text().rpartition(")")[2].split()
            there = (int(fields[11]) + int(fields[12])) / JIFFIES
        except OSError:
            there = 0.0
        return time.perf_counter(), time.process_time(), there


if __name__ == "__main__":
    main()
