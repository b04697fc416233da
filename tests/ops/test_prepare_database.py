"""`manage.py prepare_database` on a real, empty server."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from openclaw_admin.embedded.postgres import Addresses, Postgres
from tests.ops.conftest import ROOT


@contextmanager
def server_of(home: Path) -> Iterator[tuple[Postgres, Addresses]]:
    server = Postgres(home / "postgres", wanted=os.environ.get("OPENCLAW_ADMIN_POSTGRES", ""), is_durable=False)
    try:
        yield server, server.start()
    finally:
        server.stop()


@contextmanager
def empty_server(home: Path) -> Iterator[Addresses]:
    with server_of(home) as (_, found):
        yield found


@pytest.fixture
def addresses(home: Path) -> Iterator[Addresses]:
    with empty_server(home) as found:
        yield found


@dataclass(frozen=True, slots=True)
class Prepared:
    """A database that was empty, and what was said while two prepared it at once, and one more after them."""

    home: Path
    server: Postgres
    addresses: Addresses
    together: list[tuple[int, str]]
    again: str


@pytest.fixture(scope="module")
def prepared() -> Iterator[Prepared]:
    """Prepare once for all: every migration from the first takes long."""
    home = Path(tempfile.mkdtemp(prefix="oca-ops-"))
    home.chmod(0o711)
    with server_of(home) as (server, found):
        both = [prepare(home, found.url, found.owner_url) for _ in range(2)]
        said = [process.communicate(timeout=900)[0] for process in both]
        again = prepare(home, found.url, found.owner_url).communicate(timeout=900)[0]
        yield Prepared(
            home, server, found, [(process.returncode, words) for process, words in zip(both, said, strict=True)], again
        )
    shutil.rmtree(home, ignore_errors=True)


def prepare(home: Path, url: str, owner_url: str) -> "subprocess.Popen[str]":
    return run(home, url, owner_url, "manage.py", "prepare_database")


def run(home: Path, url: str, owner_url: str, *command: str) -> "subprocess.Popen[str]":
    environment = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": url,
        "DATABASE_OWNER_URL": owner_url,
        "OPENCLAW_ADMIN_VAR": str(home / "var"),
    }
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_two_at_once_and_one_more_leave_a_ledger_that_the_application_can_only_extend(prepared: Prepared) -> None:
    assert {code for code, _ in prepared.together} == {0}, prepared.together
    assert prepared.again.strip() == "the database is ready"
    with psycopg.connect(prepared.addresses.url, autocommit=True) as connection:
        connection.execute("SELECT count(*) FROM accounts_user")
        for statement in (
            "UPDATE audit_entry SET kind = kind",
            "DELETE FROM audit_content",
            "TRUNCATE audit_entry",
            "DELETE FROM audit_entry_default",
            "ALTER TABLE audit_entry DISABLE TRIGGER ALL",
            "DROP TABLE accounts_user",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
        rights = connection.execute("SELECT has_table_privilege('audit_entry', 'INSERT, SELECT')").fetchone()
        assert rights == (True,)


def test_no_other_role_may_call_what_runs_with_the_owners_rights(prepared: Prepared) -> None:
    calls = (
        "SELECT audit_partition_ensure('audit_entry', now()::date)",
        "SELECT audit_purge(1, now(), now())",
        "SELECT audit_erase(1, now(), now())",
        "SELECT audit_month_drop('2020-01-01')",
    )
    with psycopg.connect(prepared.addresses.url, autocommit=True) as connection:
        assert connection.execute(calls[0]).fetchone() == (False,)  # it is there already
    with prepared.server._connect("openclaw_admin") as connection, connection.cursor() as cursor:
        cursor.execute("CREATE ROLE stranger; GRANT USAGE ON SCHEMA public TO stranger; SET ROLE stranger")
        connection.commit()
        for call in calls:
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for function"):
                cursor.execute(call)
            connection.rollback()


@pytest.mark.slow
def test_with_one_role_it_says_that_triggers_guard_the_ledger(prepared: Prepared) -> None:
    owner_url = prepared.addresses.owner_url
    process = prepare(prepared.home, owner_url, owner_url)
    said = process.communicate(timeout=900)[0]
    assert process.returncode == 0, said
    assert "one database role only: triggers guard the audit ledger" in said


NEWER = "INSERT INTO django_migrations (app, name, applied) VALUES (%s, '9999_of_tomorrow', now())"


@pytest.mark.parametrize("app", ["policies", "an_app_of_tomorrow"])
@pytest.mark.parametrize(
    "command",
    [
        ["manage.py", "prepare_database"],
        ["manage.py", "serve", "--no-prepare", "--no-background", "--port", "0"],
        ["-m", "celery", "--app", "openclaw_admin", "worker", "--pool", "solo"],
        ["-m", "celery", "--app", "openclaw_admin", "beat"],
    ],
    ids=["prepare_database", "serve", "worker", "beat"],
)
@pytest.mark.slow
def test_a_database_of_a_newer_version_is_refused_in_one_sentence(
    prepared: Prepared, command: list[str], app: str
) -> None:
    with psycopg.connect(prepared.addresses.owner_url, autocommit=True) as connection:
        connection.execute(NEWER, [app])
        try:
            process = run(prepared.home, prepared.addresses.url, prepared.addresses.owner_url, *command)
            said = process.communicate(timeout=300)[0]
        finally:
            connection.execute("DELETE FROM django_migrations WHERE name LIKE '9999%'")
    sentences = [line for line in said.splitlines() if "a newer version of OpenClaw Admin than" in line]
    assert (process.returncode, len(sentences)) == (1, 1), said
    assert f"{app}.9999_of_tomorrow unknown here" in sentences[0]
    assert "Traceback" not in said


@pytest.mark.slow
def test_an_unreachable_database_is_one_sentence(home: Path) -> None:
    url = "postgresql://someone:hush@127.0.0.1:1/nothing"
    process = prepare(home, url, url)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 1
    assert said.startswith("CommandError: cannot use the database at 127.0.0.1:1/nothing: ")
    assert "hush" not in said and len(said.splitlines()) == 1
