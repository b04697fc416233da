"""`manage.py serve` as a real process: start, answers, ends, refusals."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.urls import reverse

from tests.ops.conftest import READY, ROOT, Serve, free_port, processes_of


@contextmanager
def taken_port() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield int(holder.getsockname()[1])


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


def test_sigterm_ends_every_process_too(serve: Callable[..., Serve], lived_in: Path) -> None:
    server = serve("--port", str(free_port()))
    server.wait_for(READY)
    server.end(signal.SIGTERM)
    assert processes_of(str(lived_in)) == []


def test_a_killed_server_leaves_nothing_and_starts_again_quickly(serve: Callable[..., Serve], lived_in: Path) -> None:
    port = free_port()
    first = serve("--port", str(port))
    first.wait_for(READY)
    first.end(signal.SIGKILL)
    started = time.monotonic()
    second = serve("--port", str(port))
    second.wait_for(READY)
    assert get(port, "/healthz")[0] == 200
    assert time.monotonic() - started < 90  # 8 s on a quiet machine; tests share theirs
    second.end()
    assert processes_of(str(lived_in)) == []


def test_the_first_start_prints_a_sign_in_for_each_role_once(serve: Callable[..., Serve]) -> None:
    first = serve("--port", str(free_port()))
    said = first.wait_for(READY)
    first.end()
    assert all(role in said for role in ("admin", "operator", "auditor", "viewer")), said
    second = serve("--port", str(free_port()))
    again = second.wait_for(READY)
    assert "password" not in again.lower()


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


def refused(server: Serve) -> str:
    """The one sentence of a server that does not start."""
    assert server.process.wait(180) == 1, server.said
    lines = [line for line in server.said.splitlines() if line.strip()]
    assert len(lines) == 1, server.said
    return lines[0]


def test_a_taken_port_is_one_sentence_and_starts_nothing(serve: Callable[..., Serve], home: Path) -> None:
    with taken_port() as port:
        sentence = refused(serve("--port", str(port)))
    assert f"port {port} of 127.0.0.1 is taken" in sentence
    assert not (home / "postgres").exists()


@pytest.mark.parametrize("port", ["65536", "-1"])
def test_a_port_that_is_none_is_one_sentence(serve: Callable[..., Serve], port: str) -> None:
    assert refused(serve(f"--port={port}")) == f"OpenClaw Admin does not start: port {port} is outside 0 to 65535"


def test_an_unreachable_redis_is_one_sentence_without_its_password(serve: Callable[..., Serve]) -> None:
    port = free_port()
    sentence = refused(serve("--port", str(free_port()), REDIS_URL=f"redis://:hush@127.0.0.1:{port}/0"))
    assert f"cannot use the Redis at 127.0.0.1:{port}: " in sentence
    assert "hush" not in sentence


def test_a_second_start_of_the_same_folder_says_which_one_runs(serve: Callable[..., Serve], lived_in: Path) -> None:
    port = free_port()
    first = serve("--port", str(port))
    first.wait_for(READY)
    sentence = refused(serve("--port", str(free_port())))
    assert f"already runs here on http://127.0.0.1:{port}: process {first.process.pid}" in sentence


def test_an_unreachable_database_is_one_sentence_without_its_password(serve: Callable[..., Serve]) -> None:
    url = f"postgresql://someone:hush@127.0.0.1:{free_port()}/nothing"
    sentence = refused(serve("--port", str(free_port()), DATABASE_URL=url))
    assert "cannot use the database at 127.0.0.1:" in sentence
    assert "hush" not in sentence


def test_a_wrong_setting_is_one_sentence_that_names_it(serve: Callable[..., Serve]) -> None:
    sentence = refused(serve("--port", str(free_port()), WEB_THREADS="many"))
    assert sentence == "setting WEB_THREADS: `many` is not a whole number"


def test_a_folder_that_is_a_file_is_one_sentence(serve: Callable[..., Serve], home: Path) -> None:
    (home / "postgres").write_text("not a folder")
    sentence = refused(serve("--port", str(free_port())))
    assert f"{home}/postgres" in sentence


def test_a_full_disk_is_one_sentence(home: Path) -> None:
    """In a mount namespace of its own, the installation's folder is a file system of a few MiB."""
    start = f"exec {sys.executable} manage.py serve --port {free_port()}"
    script = f"mount -t tmpfs -o size=20m,mode=0711 none {home} && {start}"
    isolated = ["unshare", "--mount", "--map-root-user", "--user"] if not is_root() else ["unshare", "--mount"]
    probe = subprocess.run([*isolated, "mount", "-t", "tmpfs", "none", str(home)], capture_output=True)
    if probe.returncode != 0:
        pytest.skip("this machine gives no mount namespace")
    if not is_root():
        pytest.skip("inside a user namespace everybody is root, and PostgreSQL refuses root")
    environment = {
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
        "OPENCLAW_ADMIN_VAR": str(home / "var"),
        "OPENCLAW_ADMIN_POSTGRES_HOME": str(home / "postgres"),
    }
    done = subprocess.run(
        [*isolated, "sh", "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "is full: free some space and start again" in done.stderr
    assert "Traceback" not in done.stderr


def is_root() -> bool:
    return os.geteuid() == 0
