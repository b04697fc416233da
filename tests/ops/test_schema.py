"""`schema.sql` gives an empty database what the migrations give it, and nothing to any other."""

import os
import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.db import connections

from openclaw_admin.embedded.binaries import choose_binaries
from openclaw_admin.embedded.children import lowered_account
from openclaw_admin.embedded.postgres import Addresses
from openclaw_admin.schema import schema_is_current, schema_load
from tests.ops.conftest import ROOT
from tests.ops.test_prepare_database import addresses  # noqa: F401 - a fixture

# what two databases that are alike may say differently: their names, and random words of pg_dump
_OWN = re.compile(r"^(\\(un)?restrict .*|--.*|)\n", flags=re.MULTILINE)


def manage(home: Path, url: str, *words: str) -> str:
    environment = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": url,
        "DATABASE_OWNER_URL": url,
        "OPENCLAW_ADMIN_VAR": str(home / "var"),
    }
    done = subprocess.run(
        [sys.executable, "manage.py", *words], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def new_database(found: Addresses, name: str) -> str:
    with psycopg.connect(found.owner_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return re.sub(r"/[^/?]+(\?|$)", rf"/{name}\1", found.owner_url)


def definitions(home: Path, url: str) -> str:
    """Everything that a database defines, as its own tool writes it."""
    programs = choose_binaries("", account=lowered_account(), copies=home / "programs", data_version=None)
    dump = [str(programs.folder / "pg_dump"), "--schema-only", "--no-owner", url]
    done = subprocess.run(dump, env=dict(programs.environment), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return _OWN.sub("", done.stdout)


def applied(url: str) -> set[tuple[str, str]]:
    with psycopg.connect(url) as connection:
        return set(connection.execute("SELECT app, name FROM django_migrations").fetchall())


def test_the_file_was_made_from_the_migrations_as_they_are() -> None:
    assert schema_is_current(), "run `make schema`"


@pytest.mark.slow
def test_the_file_gives_what_the_migrations_give(home: Path, addresses: Addresses) -> None:  # noqa: F811
    by_file, by_step = new_database(addresses, "by_file"), new_database(addresses, "by_step")
    assert "Applying" not in manage(home, by_file, "migrate")
    assert "Applying audit.0001_append_only_ledger" in manage(home, by_step, "migrate", "--step-by-step")
    assert applied(by_file) == applied(by_step)
    told = definitions(home, by_file)
    assert told.count("CREATE TABLE") > 100
    assert told == definitions(home, by_step)


@pytest.mark.django_db
def test_a_database_that_holds_something_is_left_to_the_migrations() -> None:
    assert not schema_load(connections["default"])


@pytest.mark.parametrize("words", [["audit", "0001"], ["--plan"]])
@pytest.mark.slow
def test_whoever_wants_a_part_does_not_get_the_whole(home: Path, addresses: Addresses, words: list[str]) -> None:  # noqa: F811
    url = new_database(addresses, "part")
    manage(home, url, "migrate", *words)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regclass('gateway_callslot')").fetchone() == (None,)
