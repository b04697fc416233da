"""An installation whose database is far away and can fail: behind a proxy that cuts, on a disk that fills up."""

import itertools
import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import psycopg

from openclaw_admin.embedded.postgres import Postgres
from tests.ops.conftest import ROOT
from tests.ports import free_port

DISK_BYTES = 420 * 1024 * 1024
POLICY = '{"agents": {"entries": {"bot": {"tools": {"exec": {"security": "full", "ask": "off"}}}}}}'
ENTRIES = """
SELECT content.params->>'command', entry.call_id, entry.kind
FROM audit_entry AS entry
LEFT JOIN audit_content AS content ON content.at = entry.at AND content.entry_id = entry.id
WHERE entry.tool = 'exec' AND entry.kind IN ('call_intent', 'call_outcome', 'denial')
"""
FULL = """
CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN RAISE disk_full USING MESSAGE = 'could not extend file: No space left on device'; END $$;
CREATE TRIGGER disk_is_full BEFORE INSERT ON audit_content FOR EACH STATEMENT EXECUTE FUNCTION disk_is_full();
"""
MENDED = "DROP FUNCTION disk_is_full CASCADE"
TWICE = "SELECT call_id, kind FROM audit_entry WHERE kind LIKE 'call_%' GROUP BY 1, 2 HAVING count(*) > 1"
VERIFY = """
import django, json
django.setup()
from apps.audit.verification import verify_chains
print(json.dumps([problem.message for problem in verify_chains().problems]))
"""


def until(claim: Callable[[], object], *, what: str, seconds: float = 120.0) -> None:
    """Wait for something to hold."""
    end = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < end, f"{what} did not happen in {seconds:.0f} s"
        time.sleep(0.05)


class Proxy:
    """Hands connections on to a port, until they are cut."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._open: set[socket.socket] = set()
        self._is_cut = False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Reset every connection in the middle of whatever it says, and refuse new ones."""
        self._is_cut = True
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Let connections through again."""
        self._is_cut = False

    def close(self) -> None:
        """Listen no more."""
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(near,), daemon=True).start()

    def _join(self, near: socket.socket) -> None:
        with near, suppress(OSError):
            if self._is_cut:
                return
            with socket.create_connection(("127.0.0.1", self._target)) as far:
                self._open |= {near, far}
                self._hand_on(near, far)
                self._open -= {near, far}

    @staticmethod
    def _hand_on(near: socket.socket, far: socket.socket) -> None:
        other = {near: far, far: near}
        while True:
            for ready in select.select([near, far], [], [])[0]:
                block = ready.recv(65536)
                if not block:
                    return
                other[ready].sendall(block)


@dataclass
class Callers:
    """Callers that make one call after the other, and what they were answered."""

    url: str
    secret: str
    numbers: Iterator[int]
    padding: str = ""
    answers: dict[int, str] = field(default_factory=dict)
    is_over: bool = False

    def call_on(self) -> None:
        """Call until it is over."""
        with httpx.Client(headers={"Authorization": f"Bearer {self.secret}"}, timeout=120) as client:
            while not self.is_over:
                number = next(self.numbers)
                self.answers[number] = self._call(client, number)

    def _call(self, client: httpx.Client, number: int) -> str:
        command = f"sh -c 'echo n{number} >> ran' {self.padding}".strip()
        order = {"agent": "bot", "tool": "exec", "params": {"command": command}}
        try:
            answer = client.post(f"{self.url}/api/v1/calls", json=order)
        except httpx.HTTPError as exc:
            return type(exc).__name__
        if answer.status_code == 200:
            return str(answer.json()["status"])
        time.sleep(0.05)
        return f"{answer.status_code} {answer.json().get('code')}"

    def wait_for_more(self, kind: str, count: int) -> None:
        """Wait for so many further answers that are `completed`, or that are `refused`."""
        enough = self._count(kind) + count
        until(lambda: self._count(kind) >= enough, what=f"{count} answers that are {kind}")

    def _count(self, kind: str) -> int:
        completed = Counter(self.answers.values())["completed"]
        return completed if kind == "completed" else len(self.answers) - completed


@dataclass
class FaultyStore:
    """The installation: its database, the way there, its server."""

    folder: Path
    postgres: Postgres
    proxy: Proxy
    owner_url: str
    environment: dict[str, str]
    has_small_disk: bool
    secret: str = ""
    url: str = ""
    numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    process: "subprocess.Popen[bytes] | None" = None

    def manage(self, *words: str, given: str = "") -> str:
        """Run a program of the installation, straight to its database."""
        done = subprocess.run(
            [sys.executable, *words],
            cwd=ROOT, env=self.environment | {"DATABASE_OWNER_URL": self.owner_url}, input=given,
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def server(self) -> Iterator[None]:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "uvicorn", "openclaw_admin.asgi:application", "--port", str(port)]
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--log-level", "warning"], cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )
        try:
            until(lambda: self.health()[0] == 200, what="the start of the server")
            yield
        finally:
            self.kill_server()

    def kill_server(self) -> None:
        """Kill the server. May be called twice."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def health(self) -> tuple[int, str]:
        """Ask the server whether it is ready, and what it says of its writer."""
        try:
            answer = httpx.get(f"{self.url}/readyz", timeout=30)
        except httpx.HTTPError as exc:
            return 0, type(exc).__name__
        parts = answer.json()["parts"]
        return answer.status_code, str(parts["writer"]["state"] if "writer" in parts else parts)

    @contextmanager
    def calling(self, *, padding: str = "", callers: int = 3) -> Iterator[Callers]:
        """Have callers call while the block runs."""
        made = Callers(self.url, self.secret, self.numbers, padding)
        threads = [threading.Thread(target=made.call_on) for _ in range(callers)]
        for thread in threads:
            thread.start()
        try:
            yield made
        finally:
            made.is_over = True
            for thread in threads:
                thread.join(180)

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        """Run a statement as the owner."""
        with psycopg.connect(self.owner_url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    @property
    def workspace(self) -> Path:
        """The folder in which the tools work."""
        return self.folder / "var" / "workspaces" / "production" / "bot"

    def ran(self) -> Counter[int]:
        """Read the account that the tools keep."""
        path = self.workspace / "ran"
        return Counter(int(line[1:]) for line in path.read_text().split()) if path.exists() else Counter()

    def recorded(self) -> dict[int, list[str]]:
        """Read the ledger's account: the kinds of entries by number; calls of other commands are left out."""
        rows = self.sql(ENTRIES)
        number = re.compile(r"echo n([0-9]+) ")
        numbers = {call: int(found[1]) for command, call, _ in rows if (found := number.search(str(command or "")))}
        kinds: dict[int, list[str]] = {}
        others = {call for command, call, _ in rows if command is not None} - numbers.keys()
        for _, call, kind in rows:
            if call not in others:
                kinds.setdefault(numbers[call], []).append(str(kind))
        return kinds

    def problems(self) -> list[str]:
        """Say what the chains' verification finds, and which entry stands there twice."""
        found = json.loads(self.manage("-c", VERIFY).splitlines()[-1])
        return [*found, *(f"twice: {row}" for row in self.sql(TWICE))]

    @contextmanager
    def full_disk(self) -> Iterator[None]:
        """Leave less room on the disk of the database than what the callers are about to say.

        Where no small disk can be mounted, the database gives the same refusal with room to spare.
        """
        if self.has_small_disk:
            with self._filled_disk():
                yield
            return
        self.sql(FULL)
        try:
            yield
        finally:
            self.sql(MENDED)

    @contextmanager
    def slow_store(self) -> Iterator[None]:
        """Have whatever the ledger stores wait."""
        with psycopg.connect(self.owner_url) as connection:
            connection.execute("LOCK TABLE audit_boot IN EXCLUSIVE MODE")
            yield

    @contextmanager
    def _filled_disk(self) -> Iterator[None]:
        path = self.postgres.home / "filler"
        room = shutil.disk_usage(self.postgres.home).free
        try:
            with path.open("wb") as filler:
                os.posix_fallocate(filler.fileno(), 0, max(1, room - 400_000))
            yield
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Mount a file system in memory on a folder; False where that is not allowed."""
    folder.mkdir()
    order = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=711", "tmpfs", str(folder)]
    is_mounted = os.geteuid() == 0 and subprocess.run(order, capture_output=True, check=False).returncode == 0
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=False)


@contextmanager
def faulty_store() -> Iterator[FaultyStore]:
    """Make one: migrated, with a policy and a token; nothing serves yet."""
    folder = Path(tempfile.mkdtemp(prefix="oca-ops-"))
    folder.chmod(0o711)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        has_small_disk = stack.enter_context(small_disk(folder / "disk"))
        wanted = os.environ.get("OPENCLAW_ADMIN_POSTGRES", "")
        postgres = Postgres(folder / "disk" / "postgres", wanted=wanted, is_durable=False)
        addresses = postgres.start()
        stack.callback(postgres.stop)
        proxy = Proxy(addresses.port)
        stack.callback(proxy.close)
        environment = {
            name: text for name, text in os.environ.items() if name not in {"DATABASE_OWNER_URL", "REDIS_URL"}
        }
        environment |= {
            "DATABASE_URL": _over_tcp(addresses.url, proxy.port),
            "DJANGO_SETTINGS_MODULE": "openclaw_admin.settings",
            "OPENCLAW_ADMIN_TESTING": "1",
            "OPENCLAW_ADMIN_VAR": str(folder / "var"),
            "OPENCLAW_ADMIN_KEYS": str(folder / "var" / "keys"),
            "LOG_LEVEL": "WARNING",
        }
        made = FaultyStore(folder, postgres, proxy, addresses.owner_url, environment, has_small_disk)
        made.manage("manage.py", "prepare_database")
        made.manage("manage.py", "policy", "import", "-", given=POLICY)
        made.manage("manage.py", "policy", "publish", "--message", "the beginning")
        token = made.manage("manage.py", "create_token", "--name", "faults", "--scopes", "calls_make")
        made.secret = token.strip().splitlines()[-1]
        yield made


def _over_tcp(url: str, port: int) -> str:
    parts = urlsplit(url)
    assert parts.username and parts.password
    return f"postgresql://{parts.username}:{quote(parts.password, safe='%')}@127.0.0.1:{port}{parts.path}"
