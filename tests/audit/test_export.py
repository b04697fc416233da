"""Taking records away: any number of rows, safe in a spreadsheet, told in the ledger."""

import csv
import hashlib
import io
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import ProgrammingError
from pyarrow.parquet import read_table

from apps.accounts.errors import PermissionDeniedError
from apps.audit import exporting, exports, walking
from apps.audit.chain import TOLD_COLUMNS, content_commitment
from apps.audit.errors import AuditUnavailableError, ExportFormatError, ExportNotFoundError, ExportStateError
from apps.audit.export_files import manifest_path
from apps.audit.exporting import export_run
from apps.audit.exports import (
    KEPT,
    STALE,
    entry_export,
    export_access,
    export_cancel,
    export_is_open,
    export_path,
    export_request,
    export_stream,
    exports_of,
    exports_purge,
    exports_unfinished,
)
from apps.audit.filters import EntryFilters
from apps.audit.models import Entry, Export
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id
from tests.audit.drafts import intent, outcome

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
ALL = EntryFilters()
LATER = NOON + timedelta(hours=1)
LATER_YET = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.VAR_DIR = tmp_path
    return tmp_path


@pytest.fixture
def five_calls(empty_ledger: None) -> None:
    for number in range(5):
        call_id = new_id()
        entry_record(intent(call_id, at=NOON + timedelta(seconds=number), params={"n": number, "text": "=1+1"}))
        entry_record(outcome(call_id, at=NOON + timedelta(seconds=number, milliseconds=5), agent="ops"))


def lines(filters: EntryFilters = ALL, name: str = "jsonl") -> list[dict[str, Any]]:
    text = b"".join(entry_export(filters, name)).decode("utf-8-sig")
    if name == "csv":
        return list(csv.DictReader(io.StringIO(text)))
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.usefixtures("five_calls")
@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_an_export_holds_exactly_what_the_filter_selects_oldest_first(name: str) -> None:
    rows = lines(EntryFilters(agent=("ops",)), name)
    assert [row["kind"] for row in rows] == ["call_outcome"] * 5
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)


@pytest.mark.usefixtures("five_calls")
@pytest.mark.parametrize("rows_a_page", [1, 2, 3, 10, 500])
def test_pages_neither_lose_nor_repeat_a_row(monkeypatch: pytest.MonkeyPatch, rows_a_page: int) -> None:
    monkeypatch.setattr(walking, "PART_ENTRIES", rows_a_page)
    rows = lines()
    assert len(rows) == len({row["id"] for row in rows}) == 10


@pytest.mark.usefixtures("five_calls")
def test_a_json_line_holds_the_whole_record_and_what_proves_it() -> None:
    [row] = [row for row in lines() if (row["params"] or {}).get("n") == 3]
    assert row["agent"] == "bot" and row["params"] == {"n": 3, "text": "=1+1"}
    assert set(TOLD_COLUMNS) <= set(row)
    commitment = content_commitment(bytes.fromhex(row["salt"]), row)
    assert commitment.hex() == row["content_commitment"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", "  ="])
def test_a_spreadsheet_never_gets_a_formula(start: str) -> None:
    formula = f"{start}cmd|' /C calc'!A0"
    entry_record(intent(agent=formula, sender=formula, params=formula))
    [row] = lines(name="csv")
    assert row["agent"].startswith("'") and row["sender"] == f"'{formula}"
    assert not row["params"].startswith(("=", "+", "-", "@"))


def test_masked_values_stay_masked_in_exports() -> None:
    entry_record(intent(params={"password": "canary-in-export"}))
    assert "canary" not in json.dumps(lines()) + json.dumps(lines(name="csv"))


def test_an_unknown_format_is_refused(auditor: Any) -> None:
    with pytest.raises(ExportFormatError, match="`xlsx`"):
        entry_export(EntryFilters(), "xlsx")
    with pytest.raises(ExportFormatError):
        export_request(auditor, filters=EntryFilters(), format_name="xlsx", at=NOON)


@pytest.mark.usefixtures("five_calls")
def test_an_asked_export_is_written_and_told(auditor: Any) -> None:
    export = export_request(auditor, filters=EntryFilters(agent=("bot",)), format_name="jsonl", at=LATER)
    told = Entry.objects.get(kind="export")
    assert told.actor == "user:auditor" and told.changes is not None
    assert told.changes["filters"] == {"agent": ["bot"], "until": "2026-11-20T13:00:00Z"}
    assert export_run(export.pk, at=LATER)
    export.refresh_from_db()
    assert (export.state, export.rows_done) == ("done", 5)
    path = export_path(export)
    assert path.stat().st_mode & 0o777 == 0o600 and len(path.read_bytes().splitlines()) == 5
    assert exports_of(auditor) == [export]


@pytest.mark.usefixtures("five_calls")
def test_a_stream_gives_the_same_lines_and_is_told_too(auditor: Any, operator: Any) -> None:
    streamed = list(export_stream(auditor, filters=EntryFilters(tool=("read",)), format_name="jsonl", at=LATER))
    assert [json.loads(line)["id"] for line in b"".join(streamed).splitlines()] == [
        row["id"] for row in lines(EntryFilters(tool=("read",)))
    ]
    assert Entry.objects.get(kind="export").changes == {
        "filters": {"tool": ["read"], "until": "2026-11-20T13:00:00Z"},
        "format": "jsonl",
        "streamed": True,
    }
    with pytest.raises(PermissionDeniedError):
        export_stream(operator, filters=ALL, format_name="jsonl", at=LATER)


def test_running_an_export_twice_writes_it_once(auditor: Any) -> None:
    export = export_request(auditor, filters=EntryFilters(), format_name="csv", at=LATER)
    assert [export_run(export.pk, at=LATER), export_run(export.pk, at=LATER)] == [True, False]


def test_an_export_whose_worker_was_killed_is_taken_up_by_another(auditor: Any) -> None:
    export = export_request(auditor, filters=EntryFilters(), format_name="csv", at=LATER)
    Export.objects.filter(pk=export.pk).update(state="running", worker=new_id(), touched_at=LATER)
    assert exports_unfinished(LATER) == [] and not export_run(export.pk, at=LATER)
    after = LATER + STALE + timedelta(seconds=1)
    assert exports_unfinished(after) == [export.pk] and export_run(export.pk, at=after)


def test_an_export_that_fails_says_so_and_leaves_no_file(
    auditor: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: Any) -> Iterator[bytes]:
        yield b"first"
        raise OSError("disk full")

    export = export_request(auditor, filters=EntryFilters(), format_name="csv", at=LATER)
    monkeypatch.setattr(exporting, "part_lines", broken)
    with pytest.raises(OSError, match="disk full"):
        export_run(export.pk, at=LATER)
    export.refresh_from_db()
    assert export.state == "failed" and list((folder / "exports").iterdir()) == []
    with pytest.raises(ExportNotFoundError):
        export_path(export)


@pytest.mark.usefixtures("five_calls")
def test_what_is_committed_after_it_was_asked_is_not_in_it_whatever_its_instant_says(auditor: Any) -> None:
    export = export_request(auditor, filters=EntryFilters(agent=("bot", "ops")), format_name="jsonl", at=LATER)
    streamed = entry_export(EntryFilters(agent=("bot", "ops")), "jsonl")
    entry_record(intent(at=NOON + timedelta(milliseconds=1), params={"late": True}))
    export_run(export.pk, at=LATER)
    export.refresh_from_db()
    assert b"late" not in export_path(export).read_bytes() and export.rows_done == export.rows_total == 10
    assert b"late" not in b"".join(streamed)


@pytest.mark.usefixtures("five_calls")
@pytest.mark.parametrize("part", [1, 2, 3, 7, 10, 11])
def test_what_is_streamed_in_parts_that_are_read_ahead_is_the_whole_in_order(
    monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    whole = b"".join(entry_export(ALL, "jsonl"))
    monkeypatch.setattr(walking, "PART_ENTRIES", part)
    assert b"".join(entry_export(ALL, "jsonl")) == whole
    assert len(whole.splitlines()) == 10


@pytest.mark.usefixtures("five_calls")
def test_a_reader_who_leaves_early_or_whose_database_refuses_leaves_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "PART_ENTRIES", 2)
    streamed = entry_export(ALL, "jsonl")
    assert next(streamed)
    streamed.close()  # type: ignore[attr-defined]

    monkeypatch.setattr(walking, "WORK_MEMORY", "SELECT nothing FROM nowhere")
    with pytest.raises(ProgrammingError):
        list(entry_export(ALL, "jsonl"))
    assert not [each.name for each in threading.enumerate() if each.name.startswith("export")]


@pytest.mark.usefixtures("five_calls")
def test_a_cancelled_export_stops_at_the_next_part_and_leaves_nothing(
    auditor: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = export_request(auditor, filters=ALL, format_name="jsonl", at=LATER)
    monkeypatch.setattr(walking, "PART_ENTRIES", 2)
    assert export_run(export.pk, at=LATER, limit_s=0)
    export.refresh_from_db()
    assert (export.state, export.rows_done, export.worker) == ("running", 2, None)

    export_cancel(auditor, export, at=LATER)
    assert not export_run(export.pk, at=LATER) and list((folder / "exports").iterdir()) == []
    with pytest.raises(ExportStateError):
        export_cancel(auditor, export, at=LATER)


def test_a_worker_notices_between_two_parts_that_its_export_was_cancelled(
    auditor: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = export_request(auditor, filters=ALL, format_name="csv", at=LATER)

    def cancelled_meanwhile(*given: Any) -> Iterator[Any]:
        export_cancel(auditor, export, at=LATER)
        return walking.part_lines(*given)

    monkeypatch.setattr(exporting, "part_lines", cancelled_meanwhile)
    assert not export_run(export.pk, at=LATER)
    assert Export.objects.get(pk=export.pk).state == "cancelled" and list((folder / "exports").iterdir()) == []


@pytest.mark.usefixtures("five_calls")
@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
def test_an_export_goes_on_in_turns_and_writes_the_same_file(
    auditor: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = export_request(auditor, filters=EntryFilters(agent=("ops",)), format_name=name, at=LATER)
    export_run(whole.pk, at=LATER)
    monkeypatch.setattr(walking, "PART_ENTRIES", 1)
    turned = export_request(auditor, filters=EntryFilters(agent=("ops",)), format_name=name, at=LATER)
    turns = 0
    while export_is_open(turned.pk):
        assert export_run(turned.pk, at=LATER, limit_s=0)
        turns += 1
    for export in (whole, turned):
        export.refresh_from_db()
    assert turns >= 10
    if name == "parquet":
        assert read_table(export_path(turned)) == read_table(export_path(whole))
    else:
        assert export_path(turned).read_bytes() == export_path(whole).read_bytes()


@pytest.mark.usefixtures("five_calls")
def test_a_manifest_lies_beside_the_file(auditor: Any) -> None:
    export = export_request(auditor, filters=EntryFilters(agent=("bot",)), format_name="jsonl", at=LATER)
    export_run(export.pk, at=LATER)
    export.refresh_from_db()
    path = export_path(export)
    manifest = json.loads(manifest_path(path).read_bytes())
    assert manifest["file"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest() == export.sha256
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert manifest["rows"]["count"] == len(rows) == 5
    assert manifest["trailer"]["hash"] == rows[-1]["hash"]
    assert [(each["chain"], each["last"]) for each in manifest["rows"]["chains"]] == [
        (rows[0]["chain_id"], max(row["seq"] for row in rows))
    ]


def test_hostile_text_comes_back_from_every_format_as_it_was(auditor: Any) -> None:
    text = 'a"b,c\\d\n\r\n\t\u2028😀 %s {0} \\x01 \x01\x02\x7f'
    entry_record(intent(agent=text, sender="'=1", params={"t": text, "k\n": [1.5, None]}))
    for name in ("jsonl", "csv", "parquet"):
        export = export_request(auditor, filters=EntryFilters(kind=("call_intent",)), format_name=name, at=LATER_YET)
        export_run(export.pk, at=LATER_YET)
        export.refresh_from_db()
        [row] = rows_of(export_path(export), name)
        assert row["agent"] == text
        params = row["params"] if name == "jsonl" else json.loads(row["params"])
        assert params == {"t": text, "k\n": [1.5, None]}
        assert row["sender"] == ("''=1" if name == "csv" else "'=1")


def rows_of(path: Path, name: str) -> list[dict[str, Any]]:
    if name == "parquet":
        return list(read_table(path).to_pylist())
    text = path.read_bytes().decode("utf-8-sig")
    if name == "csv":
        return list(csv.DictReader(io.StringIO(text, newline="")))
    return [json.loads(line) for line in text.split("\n") if line]


def test_files_are_removed_when_their_time_is_over(auditor: Any, folder: Path) -> None:
    export = export_request(auditor, filters=EntryFilters(), format_name="csv", at=LATER)
    export_run(export.pk, at=LATER)
    assert exports_purge(LATER) == 0
    assert exports_purge(LATER + KEPT) == 1
    assert list((folder / "exports").iterdir()) == []


def test_only_who_may_export_asks_and_only_who_asked_gets(
    admin: Any, auditor: Any, operator: Any, viewer: Any, outsider: Any
) -> None:
    for person in (operator, viewer, outsider):
        with pytest.raises(PermissionDeniedError):
            export_request(person, filters=EntryFilters(), format_name="csv", at=NOON)
    export = export_request(auditor, filters=EntryFilters(), format_name="csv", at=NOON)
    assert export_access(auditor, export.pk) == export
    for person in (admin, operator, viewer, outsider):
        with pytest.raises(ExportNotFoundError):
            export_access(person, export.pk)
    with pytest.raises(ExportNotFoundError):
        export_run(new_id(), at=NOON)


def test_nothing_is_exported_that_the_ledger_does_not_know_of(auditor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_draft: object) -> None:
        raise AuditUnavailableError("no")

    monkeypatch.setattr(exports, "entry_record", refuse)
    with pytest.raises(AuditUnavailableError):
        export_request(auditor, filters=replace(EntryFilters(), tool=("exec",)), format_name="csv", at=NOON)
    assert not Export.objects.exists()
