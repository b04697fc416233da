"""`manage.py serve` where nothing was before: what stops the first start, in a sentence."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ops.conftest import ROOT, Serve, refused
from tests.ports import free_port


@contextmanager
def taken_port() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield int(holder.getsockname()[1])


@pytest.mark.slow
def test_a_taken_port_is_one_sentence_and_starts_nothing(serve: Callable[..., Serve], home: Path) -> None:
    with taken_port() as port:
        sentence = refused(serve("--port", str(port)))
    assert f"port {port} of 127.0.0.1 is taken" in sentence
    assert not (home / "postgres").exists()


@pytest.mark.parametrize("port", ["65536", "-1"])
@pytest.mark.slow
def test_a_port_that_is_none_is_one_sentence(serve: Callable[..., Serve], port: str) -> None:
    assert refused(serve(f"--port={port}")) == f"OpenClaw Admin does not start: port {port} is outside 0 to 65535"


@pytest.mark.slow
def test_an_unreachable_redis_is_one_sentence_without_its_password(serve: Callable[..., Serve]) -> None:
    port = free_port()
    sentence = refused(serve("--port", str(free_port()), REDIS_URL=f"redis://:hush@127.0.0.1:{port}/0"))
    assert f"cannot use the Redis at 127.0.0.1:{port}: " in sentence
    assert "hush" not in sentence


@pytest.mark.slow
def test_an_unreachable_database_is_one_sentence_without_its_password(serve: Callable[..., Serve]) -> None:
    url = f"postgresql://someone:hush@127.0.0.1:{free_port()}/nothing"
    sentence = refused(serve("--port", str(free_port()), DATABASE_URL=url))
    assert "cannot use the database at 127.0.0.1:" in sentence
    assert "hush" not in sentence


def test_a_wrong_setting_is_one_sentence_that_names_it(serve: Callable[..., Serve]) -> None:
    sentence = refused(serve("--port", str(free_port()), WEB_THREADS="many"))
    assert sentence == "setting WEB_THREADS: `many` is not a whole number"


@pytest.mark.slow
def test_a_folder_that_is_a_file_is_one_sentence(serve: Callable[..., Serve], home: Path) -> None:
    (home / "postgres").write_text("not a folder")
    sentence = refused(serve("--port", str(free_port())))
    assert f"{home}/postgres" in sentence


@pytest.mark.slow
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
