"""`manage.py serve` as a real process: the first start, the next ones, answers, work in the background, ends."""

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from django.urls import reverse

from tests.ops.conftest import READY, ROOT, Serve, processes_of, refused
from tests.ports import free_port

UNFINISHED = """
INSERT INTO audit_export (id, requested_by_label, requested_at, touched_at, format, filters, state, rows_done,
                          size_bytes, path, error, is_walked, parts, sha256)
SELECT gen_random_uuid(), 'somebody', asked, asked, 'jsonl', '{}', 'waiting', 0, 0, '', '', false, 0, ''
FROM (VALUES (now() - interval '1 hour')) AS hour (asked)
"""


def get(port: int, path: str, *, timeout_s: float = 90) -> tuple[int, str]:
    """Fetch a path, waiting for the server to begin answering."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as exc:
            return exc.code, exc.read().decode()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


@pytest.mark.slow
def test_the_first_start_prints_a_sign_in_for_each_role_once(serve: Callable[..., Serve], lived_in: Path) -> None:
    said = (lived_in / "serve.log").read_text()
    assert all(role in said for role in ("admin", "operator", "auditor", "viewer")) and "password" in said.lower(), said
    again = serve("--port", str(free_port())).wait_for(READY)
    assert "password" not in again.lower()


def test_it_serves_pages_and_ctrl_c_ends_every_process(serve: Callable[..., Serve], lived_in: Path) -> None:
    port = free_port()
    server = serve("--port", str(port))
    server.wait_for(READY)
    assert get(port, "/healthz")[0] == 200
    status, body = get(port, "/readyz")
    assert (status, json.loads(body)["ready"]) == (200, True), body
    status, page = get(port, reverse("account_login"))
    assert (status, 'type="password"' in page) == (200, True), page[:500]
    assert server.end(signal.SIGINT) in {0, 130}
    assert processes_of(str(lived_in)) == []
    assert "Traceback" not in server.said


@pytest.mark.slow
def test_sigterm_ends_every_process_too(serve: Callable[..., Serve], lived_in: Path) -> None:
    server = serve("--port", str(free_port()))
    server.wait_for(READY)
    server.end(signal.SIGTERM)
    assert processes_of(str(lived_in)) == []


@pytest.mark.slow
def test_a_killed_server_leaves_nothing_and_starts_again(serve: Callable[..., Serve], lived_in: Path) -> None:
    port = free_port()
    first = serve("--port", str(port))
    first.wait_for(READY)
    first.end(signal.SIGKILL)
    second = serve("--port", str(port))
    second.wait_for(READY)
    assert get(port, "/healthz")[0] == 200
    second.end()
    assert processes_of(str(lived_in)) == []


@pytest.mark.slow
def test_another_command_finds_the_running_database(serve: Callable[..., Serve], lived_in: Path) -> None:
    port = free_port()
    server = serve("--port", str(port))
    server.wait_for(READY)
    notes = {note.name: note for note in (lived_in / "var" / "run").iterdir()}
    assert set(notes) == {"address", "database_url", "database_owner_url"}
    assert {note.stat().st_mode & 0o777 for note in notes.values()} == {0o600}
    assert notes["address"].read_text() == f"http://127.0.0.1:{port}"
    command = [sys.executable, "manage.py", "create_people"]
    done = subprocess.run(command, cwd=ROOT, env=server.environment, capture_output=True, text=True, timeout=180)
    assert done.stdout == "people exist already: nobody was created\n", done.stderr
    server.end()
    assert not any(note.exists() for note in notes.values())


@pytest.mark.slow
def test_a_second_start_of_the_same_folder_says_which_one_runs(serve: Callable[..., Serve], lived_in: Path) -> None:
    port = free_port()
    first = serve("--port", str(port))
    first.wait_for(READY)
    sentence = refused(serve("--port", str(free_port())))
    assert f"already runs here on http://127.0.0.1:{port}: process {first.process.pid}" in sentence


@pytest.mark.slow
def test_an_export_that_an_earlier_process_left_is_finished_after_the_start(
    serve: Callable[..., Serve], lived_in: Path
) -> None:
    first = serve("--port", str(free_port()), "--no-background")
    first.wait_for(READY)
    with psycopg.connect((lived_in / "var" / "run" / "database_owner_url").read_text()) as connection:
        connection.execute(UNFINISHED)
    first.end()
    serve("--port", str(free_port())).wait_for(READY)
    with psycopg.connect((lived_in / "var" / "run" / "database_owner_url").read_text(), autocommit=True) as connection:
        deadline = time.monotonic() + 120
        states: list[str] = []
        while time.monotonic() < deadline and states[-1:] != ["done"]:
            row = connection.execute("SELECT state FROM audit_export").fetchone()
            assert row is not None
            states.append(row[0])
            time.sleep(0.2)
    assert states[-1] == "done"
