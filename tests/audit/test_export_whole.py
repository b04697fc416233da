"""Exports of many entries: every format holds what the filter selects, row by row, though its worker was killed."""

import csv
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pyarrow.parquet import ParquetFile

from apps.audit.export_files import manifest_path
from apps.audit.exports import export_path, export_request
from apps.audit.filters import EntryFilters
from apps.audit.formats import COLUMNS, PREFIXES
from apps.firewall.identifiers import show_id
from bench._audit_rows import build
from tests import database
from tests.gateway.test_sudden_death import database_url

UNTIL = datetime(2026, 11, 1, tzinfo=UTC)
SOME = EntryFilters(environment="production", kind=("call_intent", "call_outcome"), until=UNTIL + timedelta(days=2))
NAMES = ("csv", "jsonl", "parquet")
# Kills itself, as nobody else can at so exact a moment: within a part, after some of its lines.
KILLED = """
import os, signal, sys
from datetime import datetime, UTC
from uuid import UUID
import django
django.setup()
from apps.audit import exporting, walking
walking.PART_ENTRIES = int(sys.argv[2])
given, parts = exporting.part_lines, [0]
def part_lines(*args):
    parts[0] += 1
    for number, line in enumerate(given(*args)):
        if parts[0] == 4 and number == 50:
            os.kill(os.getpid(), signal.SIGKILL)
        yield line
exporting.part_lines = part_lines
exporting.export_run(UUID(sys.argv[1]), at=datetime.now(UTC))
"""
# Goes on with an export, and says how much memory this program has ever used; a process also inherits what whoever
# forked it had used, which getrusage does not tell apart.
RESUMED = """
import re, sys
from pathlib import Path
from datetime import datetime, timedelta, UTC
from uuid import UUID
import django
django.setup()
from apps.audit.exporting import export_run
from apps.audit.exports import STALE
assert export_run(UUID(sys.argv[1]), at=datetime.now(UTC) + STALE + timedelta(seconds=5))
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024)
"""


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.VAR_DIR = tmp_path
    return tmp_path


def process(source: str, folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DATABASE_URL": database_url(), "OPENCLAW_ADMIN_TESTING": "1"}
    environment |= {"OPENCLAW_ADMIN_VAR": str(folder), "DJANGO_SETTINGS_MODULE": "openclaw_admin.settings"}
    environment.pop("DATABASE_OWNER_URL", None)
    command = [sys.executable, "-c", source, *args]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3000, check=False)


def check(entries: int, part: int, auditor: Any, folder: Path) -> dict[str, int]:
    """Export in each format with a worker that is killed, and hold every row against the database.

    Returns:
        Megabytes that the process used which went on, by format.
    """
    build(database.application_address(), entries=entries, until=UNTIL, processes=2)
    memory, digests = {}, {}
    for name in NAMES:
        export = export_request(auditor, filters=SOME, format_name=name, at=datetime.now(UTC))
        assert process(KILLED, folder, str(export.pk), str(part)).returncode == -9
        export.refresh_from_db()
        kept = export.rows_done
        assert export.state == "running" and export.parts == 3 and kept > 0
        resumed = process(RESUMED, folder, str(export.pk))
        assert resumed.returncode == 0, resumed.stderr
        memory[name] = int(resumed.stdout.split()[-1])
        export.refresh_from_db()
        assert export.state == "done" and export.rows_done == export.rows_total and export.rows_done > kept
        path = export_path(export)
        manifest = json.loads(manifest_path(path).read_bytes())
        assert manifest["rows"]["count"] == export.rows_done
        digests[name] = digest(READERS[name](path))
        assert {each.name for each in path.parent.iterdir()} == {path.name, manifest_path(path).name}
        path.unlink()
        manifest_path(path).unlink()
    assert digests == dict.fromkeys(NAMES, digest(stored()))
    return memory


def digest(rows: Iterator[tuple[str, ...]]) -> tuple[int, str]:
    count, running = 0, hashlib.sha256()
    for row in rows:
        running.update("\x1f".join(row).encode() + b"\x1e")
        count += 1
    return count, running.hexdigest()


def stored() -> Iterator[tuple[str, ...]]:
    """What the filter means, in words of its own, as the tables hold it."""
    places = {
        name: f"c.{name}" for name in ("params", "result", "error", "masked", "changes", "decision_reason", "salt")
    }
    with database.owner_connection() as other, other.transaction(), other.cursor("walk") as cursor:
        cursor.execute(
            f"SELECT {', '.join(places.get(name, f'e.{name}') for name in COLUMNS)}"
            " FROM audit_entry AS e LEFT JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id"
            " WHERE e.environment = 'production' AND e.kind IN ('call_intent', 'call_outcome')"
            " AND e.at < '2026-11-03 00:00:00+00' ORDER BY e.at, e.id"
        )
        for row in cursor:
            yield tuple(map(written, COLUMNS, row))


def written(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, UUID) and name in PREFIXES:
        return show_id(PREFIXES[name], value)
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else str(value)


def told(name: str, value: Any) -> str:
    if name in {"phases", "changes", "params", "result", "error", "masked"} and isinstance(value, str) and value:
        value = json.loads(value)
    return written(name, value)


def csv_rows(path: Path) -> Iterator[tuple[str, ...]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            yield tuple(told(name, row[name]) for name in COLUMNS)


def jsonl_rows(path: Path) -> Iterator[tuple[str, ...]]:
    with path.open("rb") as file:
        for line in file:
            row = json.loads(line)
            assert tuple(row) == COLUMNS
            yield tuple(written(name, row[name]) for name in COLUMNS)


def parquet_rows(path: Path) -> Iterator[tuple[str, ...]]:
    file = ParquetFile(path)
    for group in range(file.num_row_groups):
        for row in file.read_row_group(group).to_pylist():
            yield tuple(told(name, row[name]) for name in COLUMNS)


READERS = {"csv": csv_rows, "jsonl": jsonl_rows, "parquet": parquet_rows}


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_twenty_thousand_rows_agree_in_three_formats_though_their_workers_were_killed(
    auditor: Any, folder: Path
) -> None:
    check(20_000, 2_000, auditor, folder)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_million_rows_agree_in_three_formats_in_flat_memory(
    auditor: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = check(1_500_000, 20_000, auditor, folder)
    with capsys.disabled():
        sys.stdout.write(f"\nmegabytes used by an export of a million rows: {memory}\n")
    assert max(memory["csv"], memory["jsonl"]) < 200, memory
    assert memory["parquet"] < 256, memory  # its library alone takes 80
