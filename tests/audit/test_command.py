"""The ledger at the command line."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pyarrow.parquet import read_table

from apps.audit.exports import export_request
from apps.audit.filters import EntryFilters
from apps.audit.models import Entry, Export
from apps.audit.services import entry_record
from tests.audit.drafts import intent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.VAR_DIR = tmp_path / "var"
    for number in range(3):
        entry_record(intent(at=NOON + timedelta(seconds=number), params={"n": number}, agent="told"))
    return tmp_path


def run(*args: str) -> str:
    answer = StringIO()
    call_command("audit", *args, stdout=answer, stderr=StringIO())
    return answer.getvalue()


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet"])
def test_a_file_and_its_manifest_are_written(folder: Path, name: str) -> None:
    output = folder / f"out.{name}"
    told = run("export", "--format", name, "--output", str(output), "--filter", "agent=told")
    assert "3 entries" in told
    assert json.loads((folder / "out.manifest.json").read_bytes())["rows"]["count"] == 3
    if name == "parquet":
        assert read_table(output).num_rows == 3
    assert output.stat().st_mode & 0o777 == 0o600
    assert Entry.objects.get(kind="export").actor == "system"


def test_standard_output_takes_lines(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    run("export", "--output", "-", "--filter", "agent=told", "--filter", "kind=call_intent")
    written, _ = capfdbinary.readouterr()
    assert [json.loads(line)["params"]["n"] for line in written.splitlines()] == [0, 1, 2]
    with pytest.raises(CommandError, match="needs a file"):
        run("export", "--format", "parquet", "--output", "-")


def test_an_interrupted_export_goes_on(folder: Path, auditor: Any) -> None:
    output = folder / "out.jsonl"
    run("export", "--output", str(output), "--filter", "agent=told")
    export = Export.objects.get()
    Export.objects.filter(pk=export.pk).update(state="running", worker=None)
    output.unlink()
    run("export", "--output", str(output), "--resume", export.shown_id)
    assert len(output.read_bytes().splitlines()) == 3
    other = export_request(auditor, filters=EntryFilters(), format_name="csv", at=NOON)
    for wanted in (other.shown_id, "exp_nonsense"):
        with pytest.raises(CommandError, match=r"no such export|not the id"):
            run("export", "--output", str(output), "--resume", wanted)


def test_a_search_lists_newest_first_and_is_told(folder: Path) -> None:
    assert [line.split()[3] for line in run("search", "agent:told").splitlines()] == ["told"] * 3
    [row] = run("search", "--json", "--limit", "1", "agent:told").splitlines()
    assert json.loads(row)["params"] == {"n": 2}
    assert Entry.objects.filter(kind="search").count() == 2


def test_a_filter_that_is_none_is_named(folder: Path) -> None:
    for wrong in ("nonsense=1", "agent"):
        with pytest.raises(CommandError, match="is no filter"):
            run("search", "--filter", wrong)
    with pytest.raises(CommandError, match="since"):
        run("search", "--filter", "since=yesterday")


def test_a_hostile_name_stays_on_its_line(folder: Path) -> None:
    entry_record(intent(agent="bad\n\x1b[2Jname"))
    assert "\x1b" not in run("search") and len(run("search", "--filter", "kind=call_intent").splitlines()) == 4
