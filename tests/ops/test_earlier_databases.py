"""A database that an earlier version left is migrated with everything in it, and what it had published still decides.

`samples/database.0001.sql.gz` is a dump of such a database: the demo, imported and published, one core tool disabled.
Its snapshot has the format 1 and is signed with the keys below.
"""

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from openclaw_admin.embedded.postgres import Addresses
from tests.ops.conftest import ROOT
from tests.ops.test_prepare_database import addresses  # noqa: F401 - a fixture

SAMPLE = ROOT / "tests" / "samples" / "database.0001.sql.gz"
SNAPSHOT = "975fb7f26c62553f41d5bcadf2121273750502d06c3f31f32a3336fb986f2f9f"
DECIDES = """
import django; django.setup()
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools, decide
from apps.policies.selectors import live_snapshot
from apps.registry.services import environment_default
snapshot = live_snapshot(environment_default())
context = CallContext(agent_id="main", session_key="agent:main:main", sender_is_owner=True)
print(snapshot.digest)
print(len(snapshot.tool_names), decide(snapshot, context, "read").allowed, decide(snapshot, context, "gateway").allowed)
"""

VERIFIES = """
import django; django.setup()
from apps.audit.models import Entry
from apps.audit.verification import verify_chains
print(sorted(set(Entry.objects.values_list("format", flat=True))), verify_chains().is_intact)
"""


def parts(sample: str) -> Iterator[tuple[str, str]]:
    """Cut a dump into statements and the rows that follow a COPY."""
    place = 0
    for copy in re.finditer(r"^(COPY [^\n]+ FROM stdin);\n(.*?)^\\\.\n", sample, flags=re.MULTILINE | re.DOTALL):
        yield sample[place : copy.start()], ""
        yield copy[1], copy[2]
        place = copy.end()
    yield sample[place:], ""


def restore(address: str) -> None:
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        for statement, rows in parts(gzip.decompress(SAMPLE.read_bytes()).decode()):
            if not statement.startswith("COPY "):
                cursor.execute(statement.encode())
                continue
            with cursor.copy(statement.encode()) as copy:
                copy.write(rows)


class Installation:
    """The commands of a newer version on the earlier one's database, with its keys."""

    def __init__(self, home: Path, found: Addresses) -> None:
        self.environment = {
            "PATH": os.environ["PATH"],
            "DATABASE_URL": found.url,
            "DATABASE_OWNER_URL": found.owner_url,
            "OPENCLAW_ADMIN_VAR": str(home / "var"),
            "OPENCLAW_ADMIN_SEAL_KEY": "11" * 32,
            "OPENCLAW_ADMIN_SIGNING_KEY": "22" * 32,
            "DJANGO_SETTINGS_MODULE": "openclaw_admin.settings",
        }

    def run(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def migrated(home: Path, addresses: Addresses) -> Installation:  # noqa: F811
    restore(addresses.owner_url)
    installation = Installation(home, addresses)
    assert installation.run("manage.py", "prepare_database").strip() == "the database is ready"
    return installation


@pytest.mark.slow
def test_it_is_migrated_with_its_tools_and_goes_on(migrated: Installation) -> None:
    tools = {
        each["name"]: each
        for each in map(json.loads, migrated.run("manage.py", "tools", "list", "--json").splitlines())
    }
    assert (tools["gateway"]["state"], tools["gateway"]["reason"]) == ("disabled", "not here")
    assert (tools["read"]["executor"], tools["web_search"]["executor"]) == ("builtin", "")
    assert tools["freight_book"]["origin"] == "plugin:freight-board"

    with psycopg.connect(migrated.environment["DATABASE_URL"]) as connection:
        without = connection.execute("SELECT count(*) FROM registry_tool WHERE digest = ''").fetchone()
        assert without == (0,)
        logged = connection.execute("SELECT count(*) FROM registry_toolevent WHERE name = 'gateway'").fetchone()
        assert logged is not None and logged[0] >= 2

    assert migrated.run("-c", DECIDES).splitlines()[0] == SNAPSHOT
    assert migrated.run("-c", DECIDES).splitlines()[1].endswith("True False")
    assert migrated.run("manage.py", "makemigrations", "--check", "--dry-run").strip() == "No changes detected"
    published = migrated.run("manage.py", "policy", "publish", "--message", "as before")
    assert published
    # What the earlier version recorded still verifies beside what this one does.
    assert migrated.run("-c", VERIFIES).strip() == "[1, 2] True"
