"""A served copy of the product on a database of its own, for benchmarks that need the whole of it."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import httpx
import psycopg
from psycopg import sql

ROOT = Path(__file__).resolve().parent.parent
START_S, STOP_S, COMMAND_S, DROP_S = 240, 20, 300, 120


@dataclass
class Installation:
    """A database and a folder of files; `serve` adds a server."""

    environment: dict[str, str]
    folder: Path
    url: str = ""
    passwords: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, timeout_s: float = COMMAND_S) -> str:
        """Run a Python program with this installation's settings and return what it prints."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=timeout_s, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        return done.stdout

    def token(self, *scopes: str) -> str:
        """Make an API token and return its secret."""
        made = self.run("manage.py", "create_token", "--name", "bench", "--scopes", ",".join(scopes))
        return made.strip().splitlines()[-1]

    @contextmanager
    def serve(self, *options: str, program: Sequence[str] = ("manage.py", "serve")) -> Iterator[None]:
        """Serve until the block ends; `url` says where, `passwords` who may sign in."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        log = self.folder / "serve.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, *program, "--port", str(port), *options],
                cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )  # fmt: skip
        try:
            _wait(self.url, process, log)
            self.passwords |= dict(re.findall(r"^ {4}(\w+) +(\S+)$", log.read_text(), re.MULTILINE))
            yield
        finally:
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(STOP_S)


@contextmanager
def installation() -> Iterator[Installation]:
    """Make an installation that nothing serves yet; database and files go when the block ends."""
    owner = os.environ.get("DATABASE_OWNER_URL") or os.environ["DATABASE_URL"]
    name = f"bench_{os.getpid()}_{time.monotonic_ns() % 10**9}"
    folder = Path(tempfile.mkdtemp(prefix="oca-bench-"))
    _run_sql(owner, "CREATE DATABASE {}", name)
    try:
        environment = {key: value for key, value in os.environ.items() if key not in _NOT_PASSED_ON} | {
            "DATABASE_URL": _on_database(os.environ["DATABASE_URL"], name),
            "DATABASE_OWNER_URL": _on_database(owner, name),
            "OPENCLAW_ADMIN_VAR": str(folder),
            "LOG_LEVEL": "WARNING",
        }
        yield Installation(environment, folder)
    finally:
        drop_database(owner, name)
        shutil.rmtree(folder, ignore_errors=True)


_NOT_PASSED_ON = {"OPENCLAW_ADMIN_TESTING", "PUBLIC_URL", "REDIS_URL"}


def _on_database(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def _run_sql(url: str, statement: str, name: str) -> None:
    with psycopg.connect(_on_database(url, "postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(sql.Identifier(name)))


def drop_database(owner: str, name: str) -> None:
    """Drop a database with whoever is in it; the server's own vacuum may not be ended and is waited for."""
    for _ in range(DROP_S):
        try:
            _run_sql(owner, "DROP DATABASE {} WITH (FORCE)", name)
        except psycopg.errors.InsufficientPrivilege:
            time.sleep(1)
        else:
            return
    raise RuntimeError(f"the database {name} was in use for {DROP_S} s")


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx.get(f"{url}/readyz", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{log.read_text(errors='replace')[-4000:]}")
