"""The embedded PostgreSQL as a real child process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from openclaw_admin.embedded.errors import AlreadyRunsError, EmbeddedError, of_os_error, of_server_log
from openclaw_admin.embedded.postgres import Addresses, Postgres
from tests.ops.conftest import ROOT, processes_of


@contextmanager
def running(home: Path, kind: str) -> Iterator[tuple[Postgres, Addresses]]:
    server = Postgres(home, wanted=kind)
    try:
        yield server, server.start()
    finally:
        server.stop()


def remember(addresses: Addresses) -> None:
    with psycopg.connect(addresses.owner_url) as connection:
        connection.execute("CREATE TABLE kept (word text)")
        connection.execute("INSERT INTO kept VALUES ('here')")


def recall(addresses: Addresses) -> str:
    with psycopg.connect(addresses.owner_url) as connection:
        row = connection.execute("SELECT word FROM kept").fetchone()
    assert row is not None
    return str(row[0])


@pytest.mark.slow
def test_it_keeps_its_data_over_a_restart(home: Path, kind: str) -> None:
    with running(home, kind) as (server, addresses):
        remember(addresses)
        assert server.kind == kind
    with running(home, kind) as (_, addresses):
        assert recall(addresses) == "here"
    assert processes_of(str(home)) == []


@pytest.mark.slow
def test_a_killed_server_comes_back_by_itself_with_its_data(home: Path, kind: str) -> None:
    with running(home, kind) as (server, addresses):
        remember(addresses)
        first = server.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        deadline = time.monotonic() + 40
        while time.monotonic() < deadline:
            try:
                assert recall(addresses) == "here"
                break
            except psycopg.OperationalError:
                time.sleep(0.1)
        assert recall(addresses) == "here"
        assert server.pid != first


@pytest.mark.slow
def test_it_ends_with_a_killed_parent_and_the_next_start_finds_everything(home: Path, kind: str) -> None:
    script = (
        "import sys, time; from pathlib import Path; from openclaw_admin.embedded.postgres import Postgres;"
        f"print(Postgres(Path({str(home)!r}), wanted={kind!r}).start().owner_url, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    url = parent.stdout.readline().strip()
    remember(Addresses("", url, 0))
    parent.kill()
    parent.wait()
    parent.stdout.close()
    with running(home, kind) as (_, addresses):
        assert recall(addresses) == "here"


@pytest.mark.slow
def test_the_application_may_not_make_tables_and_a_stranger_may_not_enter(home: Path) -> None:
    with running(home, "") as (_, addresses):
        with psycopg.connect(addresses.url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("CREATE TABLE mine (id int)")
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(
                host="127.0.0.1", port=addresses.port, dbname="openclaw_admin", user="openclaw_app", password="guess"
            )


@pytest.mark.slow
def test_it_checks_its_pages_listens_on_the_loopback_and_hides_its_passwords(home: Path, kind: str) -> None:
    with running(home, kind) as (_, addresses), psycopg.connect(addresses.url) as connection:
        shown = {
            name: connection.execute(f"SHOW {name}").fetchone()[0]  # type: ignore[index]
            for name in ("data_checksums", "listen_addresses", "fsync", "server_encoding", "TimeZone")
        }
    assert shown == {
        "data_checksums": "on", "listen_addresses": "127.0.0.1", "fsync": "on", "server_encoding": "UTF8",
        "TimeZone": "UTC",
    }  # fmt: skip
    passwords = list((home / "passwords").iterdir())
    assert {path.stat().st_mode & 0o777 for path in passwords} == {0o600}
    assert len({path.read_text() for path in passwords}) == 3


@pytest.mark.slow
def test_what_the_server_logs_is_for_its_owner_alone(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "postgresql.log").write_text("of an earlier version, which everybody could read\n")
    with running(home, "") as (server, _):
        log = server.log_path
        assert "ready to accept connections" in log.read_text()
    assert log.parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in home.glob("postgresql*")] == []
    assert "of an earlier version" in "".join(path.read_text() for path in log.parent.iterdir())
    assert {path.stat().st_mode & 0o777 for path in log.parent.iterdir()} == {0o600}


@pytest.mark.slow
def test_a_second_start_says_who_serves_the_folder(home: Path) -> None:
    with running(home, "") as (server, _):
        server.describe("http://127.0.0.1:8000")
        with pytest.raises(
            AlreadyRunsError, match=rf"already runs here on http://127.0.0.1:8000: process {os.getpid()}"
        ):
            Postgres(home).start()


def test_data_of_another_version_is_refused_and_kept(home: Path) -> None:
    data = home / "data"
    data.mkdir()
    (data / "PG_VERSION").write_text("9\n")
    with pytest.raises(EmbeddedError, match=r"written by PostgreSQL 9 .* install version 9, or dump and restore"):
        Postgres(home).start()
    assert (data / "PG_VERSION").read_text() == "9\n"


@pytest.mark.slow
def test_an_interrupted_first_start_begins_again(home: Path) -> None:
    (home / "data.draft").mkdir()
    (home / "data.draft" / "PG_VERSION").write_text("15\n")
    with running(home, "") as (_, addresses):
        remember(addresses)
        assert recall(addresses) == "here"


@pytest.mark.slow
def test_a_stale_note_of_a_process_that_is_another_one_now_does_not_stop_it(home: Path) -> None:
    with running(home, "") as (_, addresses):
        remember(addresses)
    (home / "data" / "postmaster.pid").write_text(f"{os.getpid()}\n{home}/data\n")
    with running(home, "") as (_, addresses):
        assert recall(addresses) == "here"


@pytest.mark.slow
def test_a_long_path_still_gets_a_socket(home: Path) -> None:
    folder = home / ("long" * 20) / "postgres"
    folder.parent.mkdir()
    with running(folder, "") as (_, addresses), psycopg.connect(addresses.url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root lowers itself")
def test_a_folder_that_the_lowered_account_cannot_enter_is_named(home: Path) -> None:
    closed = home / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(EmbeddedError, match=rf"may not enter {closed}: name another folder"):
        Postgres(closed / "postgres").start()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(home: Path) -> None:
    closed = home / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(EmbeddedError, match=rf"cannot write to {closed}/postgres"):
        Postgres(closed / "postgres").start()


def test_a_full_disk_is_one_sentence() -> None:
    folder = Path("/srv/data")
    sentence = "the disk that holds /srv/data is full: free some space and start again"
    log = 'FATAL:  could not write to file "pg_wal/xlogtemp.7": No space left on device\nsecond line'
    assert str(of_server_log(log, folder)) == sentence
    assert str(of_os_error(OSError(28, "No space left on device"), folder)) == sentence


def test_the_reason_of_the_server_is_one_sentence() -> None:
    log = "2026-01-01 LOG:  starting\n2026-01-01 FATAL:  data directory has wrong ownership\nHINT:  see there"
    assert (
        str(of_server_log(log, Path("/srv"))) == "PostgreSQL in /srv does not start: data directory has wrong ownership"
    )


@pytest.mark.slow
def test_a_command_gets_a_server_of_its_own_that_is_gone_afterwards() -> None:
    script = (
        "import os, psycopg; psycopg.connect(os.environ['DATABASE_OWNER_URL']).execute('select 1');"
        "print(os.environ['DATABASE_URL'])"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DATABASE_")}
    command = [sys.executable, "-m", "openclaw_admin.embedded", "run", "--", sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    folder = done.stdout.rpartition("host=")[2].strip().replace("%2F", "/")
    assert not Path(folder).exists()
    assert processes_of(folder) == []


def test_a_command_that_fails_passes_its_code_on_and_one_with_a_database_keeps_it() -> None:
    environment = os.environ | {"DATABASE_URL": "postgresql://given.example/x"}
    command = [sys.executable, "-m", "openclaw_admin.embedded", "run", "--", "sh", "-c", "echo $DATABASE_URL; exit 7"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (7, "postgresql://given.example/x")
