"""`manage.py backup` and `restore`, rehearsed: a database comes back with its roles and verified, or not at all."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from openclaw_admin.backups import manifest_read
from openclaw_admin.database import PREPARE_LOCK
from openclaw_admin.embedded.dumps import tool_run, tools_of
from openclaw_admin.embedded.errors import EmbeddedError
from openclaw_admin.embedded.postgres import Addresses
from tests.gateway.test_erasing import CANARY
from tests.ops.conftest import ROOT
from tests.ops.test_prepare_database import empty_server

RECORDS = """
import django; django.setup()
from apps.audit.services import entry_record
from tests.audit.drafts import intent
from apps.audit.filters import EntryFilters
from apps.audit.exporting import export_run
from apps.audit.exports import export_request
from apps.audit.following import follow
from apps.accounts.models import User
from django.utils.timezone import now
from tests.gateway.test_erasing import quote
quote()
entry_record(intent(sender="8", session_key="another", params={"word": "othersparrow"}))
follow(limit_s=60)
person = User.objects.create(username="anna", role="admin")
export = export_request(person, filters=EntryFilters(), format_name="jsonl", at=now())
assert export_run(export.pk, at=now())
"""
STILL_THERE = """
import django; django.setup()
from django.conf import settings
from tests.gateway.test_erasing import CANARY, files_with, tables_with
print("in tables:", sorted(tables_with(CANARY)))
print("in files:", files_with(settings.VAR_DIR, CANARY))
assert tables_with("othersparrow") == {"audit_content", "audit_words"}
"""
PATIENCE_S = 900


@dataclass
class Installation:
    """The commands of one installation on any database of a server."""

    home: Path
    addresses: Addresses

    def address(self, database: str, *, owner: bool = True) -> str:
        url = self.addresses.owner_url if owner else self.addresses.url
        return re.sub(r"/[^/?]+(\?|$)", rf"/{database}\1", url) if database else url

    def start(self, *words: str, database: str = "") -> "subprocess.Popen[str]":
        environment = {
            "PATH": os.environ["PATH"],
            "DATABASE_URL": self.address(database, owner=False),
            "DATABASE_OWNER_URL": self.address(database),
            "OPENCLAW_ADMIN_VAR": str(self.home / "var"),
            "DJANGO_SETTINGS_MODULE": "openclaw_admin.settings",
            "PYTHONUNBUFFERED": "1",
        }
        return subprocess.Popen(
            [sys.executable, *words],
            cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def run(self, *words: str, database: str = "") -> tuple[int, str]:
        process = self.start(*words, database=database)
        said, _ = process.communicate(timeout=PATIENCE_S)
        return process.returncode, said

    def restore(self, folder: Path, database: str, *words: str) -> tuple[int, str]:
        return self.run("manage.py", "restore", str(folder), *words, database=database)

    def new_database(self, name: str) -> str:
        with psycopg.connect(self.addresses.owner_url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return name

    def tables(self, database: str) -> object:
        return self.asked(database, "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace")

    def asked(self, database: str, statement: str, *, owner: bool = True) -> object:
        with psycopg.connect(self.address(database, owner=owner), autocommit=True) as connection:
            row = connection.execute(statement.encode()).fetchone()
            return None if row is None else row[0]


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    home = Path(tempfile.mkdtemp(prefix="oca-ops-"))
    home.chmod(0o711)
    with empty_server(home) as addresses:
        made = Installation(home, addresses)
        for words in (("manage.py", "prepare_database"), ("-c", RECORDS)):
            code, said = made.run(*words)
            assert code == 0, said
        assert holding(home / "postgres") and holding(home / "var")
        erase = ("retention", "erase", "--channel", "telegram", "--sender", "7", "--reason", "asked to")
        code, said = made.run("manage.py", *erase)
        assert code == 0 and "vacuumed: " in said, said
        yield made
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def backup(installation: Installation) -> Path:
    folder = installation.home / "backup"
    code, said = installation.run("manage.py", "backup", str(folder))
    assert code == 0 and "keys and exports are not in it" in said and "  audit_content_" in said, said
    return folder


def holding(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]


def plain(backup: Path) -> bytes:
    """Everything that the dump says, uncompressed."""
    output = backup.with_name("plain.sql")
    tools = tools_of(json.loads((backup / "manifest.json").read_text())["server_version"])
    tool_run(tools, "pg_restore", [f"--file={output}", str(backup / "database.dump")], address={})
    return output.read_bytes()


@pytest.mark.slow
def test_a_backup_is_for_its_owner_alone_and_never_written_over(installation: Installation, backup: Path) -> None:
    files = {path.name: path.stat().st_mode & 0o777 for path in backup.iterdir()}
    assert files == {"database.dump": 0o600, "manifest.json": 0o600}
    assert backup.stat().st_mode & 0o777 == 0o700
    code, said = installation.run("manage.py", "backup", str(backup))
    assert code == 1 and "holds something" in said


@pytest.mark.slow
def test_a_backup_holds_neither_what_was_erased_nor_any_key(installation: Installation, backup: Path) -> None:
    dumped = plain(backup)
    assert b"othersparrow" in dumped and CANARY.encode() not in dumped
    for key in (installation.home / "var" / "keys").iterdir():
        held = key.read_bytes().strip()
        assert held and held not in dumped and held.hex().encode() not in dumped, key.name


@pytest.mark.slow
def test_an_erased_subject_is_in_no_table_no_file_no_export_no_backup(installation: Installation, backup: Path) -> None:
    """Shows 6: written wherever something of a call is kept, exported, erased; then every byte is looked at."""
    code, said = installation.run("-c", STILL_THERE)
    assert code == 0 and "in tables: []" in said and "in files: []" in said, said
    assert CANARY.encode() not in plain(backup).lower() and CANARY.encode().hex().encode() not in plain(backup)
    code, said = installation.run("manage.py", "retention", "vacuum", "--full")
    assert code == 0 and "audit_content" in said and "left to" not in said, said
    # All files of the server but its write-ahead log, which docs/audit.md names.
    assert [path for path in holding(installation.home / "postgres") if "pg_wal" not in path.parts] == []

    code, said = installation.run("manage.py", "audit", "verify")
    assert code == 0, said
    key = json.loads((backup / "manifest.json").read_text())["public_key"]
    export = installation.home / "rows.jsonl"
    code, said = installation.run("manage.py", "audit", "export", "--output", str(export))
    assert code == 0 and CANARY not in export.read_text(), said
    manifest = next(export.parent.glob("rows*manifest.json"))
    for words in (("export", str(export), str(manifest)), ("dump", str(backup.with_name("plain.sql")))):
        code, said = installation.run("-I", str(ROOT / "verify_audit.py"), *words, "--key", key)
        assert code == 0, said


@pytest.mark.slow
def test_it_comes_back_verified_with_its_roles_and_on_record(installation: Installation, backup: Path) -> None:
    database = installation.new_database("again")
    code, said = installation.restore(backup, database)
    assert code == 0 and "restored and verified" in said, said
    calls = "SELECT count(*) FROM audit_entry WHERE kind = 'call_intent'"
    assert installation.asked(database, calls, owner=False) == installation.asked("", calls) == 2
    assert installation.asked(database, "SELECT count(*) FROM audit_entry WHERE kind = 'backup'") == 2
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        installation.asked(database, "DELETE FROM audit_entry", owner=False)
    code, said = installation.run("manage.py", "audit", "verify", database=database)
    assert code == 0, said
    code, said = installation.restore(backup, database)
    assert code == 1 and "not empty" in said


@pytest.mark.slow
def test_what_was_not_signed_so_is_refused_before_anything_is_touched(installation: Installation, backup: Path) -> None:
    database = installation.new_database("untouched")
    other = shutil.copytree(backup, backup.with_name("other"))
    manifest = json.loads((other / "manifest.json").read_text())
    with (other / "database.dump").open("ab") as dump:
        dump.write(b"x")
    assert "is not the one of the manifest" in installation.restore(other, database)[1]
    (other / "manifest.json").write_text(json.dumps(manifest | {"statements": 99}))
    with pytest.raises(EmbeddedError, match="is not what was signed"):
        manifest_read(other)
    (other / "manifest.json").write_text(json.dumps(manifest | {"format": 2}))
    with pytest.raises(EmbeddedError, match="format 2"):
        manifest_read(other)
    (other / "manifest.json").unlink()
    with pytest.raises(EmbeddedError, match="holds no backup"):
        manifest_read(other)
    key = installation.home / "var" / "keys" / "audit_key"
    key.rename(key.with_name("away"))
    try:
        assert "put back its key files" in installation.restore(backup, database)[1]
    finally:
        key.with_name("away").replace(key)
    assert installation.tables(database) == 0


@pytest.mark.slow
def test_a_killed_restore_is_served_by_nobody_and_the_next_begins_anew(
    installation: Installation, backup: Path
) -> None:
    database = installation.new_database("killed")
    with psycopg.connect(installation.address(database), autocommit=True) as connection:
        # It waits here, with every table in place and nothing verified.
        connection.execute("SELECT pg_advisory_lock(%s)", [PREPARE_LOCK])
        process = installation.start("manage.py", "restore", str(backup), database=database)
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database ="
        waits += " (SELECT oid FROM pg_database WHERE datname = current_database())"
        deadline = time.monotonic() + PATIENCE_S
        while connection.execute(waits.encode()).fetchone() == (0,):
            assert process.poll() is None and time.monotonic() < deadline, process.communicate()[0]
            time.sleep(0.05)
        assert connection.execute("SELECT to_regclass('audit_entry') IS NOT NULL").fetchone() == (True,)
        process.kill()
        process.communicate()
    code, said = installation.run("manage.py", "prepare_database", database=database)
    assert code == 1 and "a restore into this database has not ended" in said, said
    code, said = installation.restore(backup, database)
    assert code == 0 and "restored and verified" in said, said
    assert installation.run("manage.py", "prepare_database", database=database)[0] == 0


@pytest.mark.slow
def test_a_ledger_that_was_changed_is_not_restored(installation: Installation) -> None:
    code, said = installation.run("manage.py", "backup", str(installation.home / "good"))
    assert code == 0, said
    database = installation.new_database("changed")
    assert installation.restore(installation.home / "good", database)[0] == 0
    with psycopg.connect(installation.address(database), autocommit=True) as connection:
        connection.execute(
            "BEGIN; SET LOCAL openclaw_admin.audit_maintenance = 'on';"
            "UPDATE audit_entry SET status = 'other' WHERE seq = 2; COMMIT"
        )
    folder = installation.home / "bad"
    assert installation.run("manage.py", "backup", str(folder), database=database)[0] == 0
    installation.new_database("never")
    code, said = installation.restore(folder, "never")
    assert code == 1 and "nothing was restored" in said and "#2" in said, said
    assert installation.tables("never") == 0
