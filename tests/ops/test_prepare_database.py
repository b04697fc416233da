"""`manage.py prepare_database` on a real, empty server."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from openclaw_admin.embedded.postgres import Addresses, Postgres
from tests.ops.conftest import ROOT


@pytest.fixture
def addresses(home: Path) -> Iterator[Addresses]:
    server = Postgres(home / "postgres", wanted=os.environ.get("OPENCLAW_ADMIN_POSTGRES", ""), is_durable=False)
    try:
        yield server.start()
    finally:
        server.stop()


def prepare(home: Path, url: str, owner_url: str) -> "subprocess.Popen[str]":
    environment = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": url,
        "DATABASE_OWNER_URL": owner_url,
        "OPENCLAW_ADMIN_VAR": str(home / "var"),
    }
    return subprocess.Popen(
        [sys.executable, "manage.py", "prepare_database"],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def test_two_at_once_and_one_more_leave_a_ledger_that_the_application_can_only_extend(
    home: Path, addresses: Addresses
) -> None:
    together = [prepare(home, addresses.url, addresses.owner_url) for _ in range(2)]
    said = [process.communicate(timeout=300)[0] for process in together]
    again = prepare(home, addresses.url, addresses.owner_url).communicate(timeout=300)[0]
    assert {process.returncode for process in together} == {0}, said
    assert again.strip() == "the database is ready"
    with psycopg.connect(addresses.url, autocommit=True) as connection:
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


def test_with_one_role_it_says_that_triggers_guard_the_ledger(home: Path, addresses: Addresses) -> None:
    process = prepare(home, addresses.owner_url, addresses.owner_url)
    said = process.communicate(timeout=300)[0]
    assert process.returncode == 0, said
    assert "one database role only: triggers guard the audit ledger" in said


def test_an_unreachable_database_is_one_sentence(home: Path) -> None:
    url = "postgresql://someone:hush@127.0.0.1:1/nothing"
    process = prepare(home, url, url)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 1
    assert said.startswith("CommandError: cannot use the database at 127.0.0.1:1/nothing: ")
    assert "hush" not in said and len(said.splitlines()) == 1
