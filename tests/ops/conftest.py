"""Folders and processes for tests that start real servers."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from openclaw_admin.embedded.binaries import SYSTEM, WHEEL, system_binaries
from openclaw_admin.embedded.children import lowered_account
from tests.ports import free_port

READY = "serves http://"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that a lowered account may enter; pytest's own are closed to it."""
    folder = Path(tempfile.mkdtemp(prefix="oca-ops-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=[SYSTEM, WHEEL])
def kind(request: pytest.FixtureRequest) -> str:
    """Both PostgreSQLs: the system's, and the files of the wheel."""
    if request.param == SYSTEM and not system_binaries(lowered_account()):
        pytest.skip("this system has no PostgreSQL")
    return str(request.param)


class Serve:
    """One `manage.py serve` as a real process, and what it said."""

    def __init__(self, *arguments: str, environment: dict[str, str], log: Path) -> None:
        self.log = log
        self.environment = environment
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "serve", *arguments],
                cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, process_group=0,
            )  # fmt: skip

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(self, text: str, *, timeout_s: float = 600) -> str:
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if text in self.said:
                return self.said
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"`{text}` was not said:\n{self.said}")

    def end(self, number: int = signal.SIGINT, *, timeout_s: float = 120) -> int:
        """Send a signal to the server alone and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout_s)


def processes_of(mark: str) -> list[str]:
    """Command lines of running processes that hold a text."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if mark in command and int(entry.name) != os.getpid():
                found.append(command)
    return found


def refused(server: Serve) -> str:
    """The one sentence of a server that does not start."""
    assert server.process.wait(600) == 1, server.said
    lines = [line for line in server.said.splitlines() if line.strip()]
    assert len(lines) == 1, server.said
    return lines[0]


def environment_of(home: Path, **variables: str) -> dict[str, str]:
    """Variables of an installation that lies below one folder."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "OPENCLAW_ADMIN_VAR": str(home / "var"),
        "OPENCLAW_ADMIN_POSTGRES_HOME": str(home / "postgres"),
        "OPENCLAW_ADMIN_POSTGRES": os.environ.get("OPENCLAW_ADMIN_POSTGRES", ""),
        **variables,
    }


@pytest.fixture(scope="session")
def earlier_installation() -> Iterator[Path]:
    """An installation that was started and ended once; making one takes longer than copying it."""
    folder = Path(tempfile.mkdtemp(prefix="oca-ops-"))
    folder.chmod(0o711)
    server = Serve("--port", str(free_port()), environment=environment_of(folder), log=folder / "serve.log")
    try:
        server.wait_for(READY)
    finally:
        server.end()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def lived_in(home: Path, earlier_installation: Path) -> Path:
    """`home` with an installation in it that has people and an empty, migrated database."""
    subprocess.run(["cp", "--archive", f"{earlier_installation}/.", str(home)], check=True)
    return home


@pytest.fixture
def serve(home: Path) -> Iterator[Callable[..., Serve]]:
    """Start `manage.py serve` with everything below `home`; whatever still runs afterwards is ended."""
    started: list[Serve] = []

    def start(*arguments: str, **variables: str) -> Serve:
        environment = environment_of(home, **variables)
        started.append(Serve(*arguments, environment=environment, log=home / f"serve-{len(started)}.log"))
        return started[-1]

    yield start
    for server in started:
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.end(signal.SIGTERM, timeout_s=15)
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait(5)
