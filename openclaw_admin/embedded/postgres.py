"""One PostgreSQL of our own: made, started, watched, ended."""

import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import quote

import psycopg

from openclaw_admin.embedded import roles
from openclaw_admin.embedded.binaries import Binaries, choose_binaries
from openclaw_admin.embedded.children import Account, lowered_account, run_child, start_child, stop_child
from openclaw_admin.embedded.errors import AlreadyRunsError, EmbeddedError, of_os_error, of_server_log

START_TIMEOUT_S = 60.0
PREDECESSOR_TIMEOUT_S = 30.0
SOCKET_PATH_LIMIT_BYTES = 90  # the system allows about 107, of which PostgreSQL takes its file's name
RESTARTS, RESTARTS_WITHIN_S = 5, 60.0
STOP_STEPS = ((signal.SIGINT, 15.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))
LOG_LIMIT_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the started server answers: one URL for each role, and the port on the loopback for people's tools."""

    url: str
    owner_url: str
    port: int


@dataclass(slots=True)
class Postgres:
    """A PostgreSQL below one folder. `start` and `stop` may be called once each, from the main thread.

    Args:
        home: folder of this installation's database; made when it is missing.
        wanted: `system`, `wheel`, or empty for the first that fits.
        is_durable: False for a throw-away server of tests, which may lose everything in a power cut.
        on_lost: called when the server died and could not be started again.
    """

    home: Path
    wanted: str = ""
    is_durable: bool = True
    on_lost: Callable[[], None] = lambda: None
    account: Account = field(default_factory=lowered_account)
    _binaries: Binaries | None = None
    _process: subprocess.Popen[bytes] | None = None
    _lock: IO[str] | None = None
    _port: int = 0
    _sockets: Path | None = None
    _stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def log_path(self) -> Path:
        return self.home / "log" / "postgresql.log"

    @property
    def version(self) -> int:
        """Major version of the running server."""
        return self._binaries.version if self._binaries is not None else 0

    @property
    def kind(self) -> str:
        """Where its programs come from: `system` or `wheel`."""
        return self._binaries.kind if self._binaries is not None else ""

    @property
    def pid(self) -> int | None:
        """Process id of the running postmaster."""
        return self._process.pid if self._process is not None else None

    def start(self) -> Addresses:
        """Make the database when there is none, start the server, give both roles their rights.

        Raises:
            AlreadyRunsError: another process of this installation serves this folder.
            EmbeddedError: anything else; the message is one sentence for the person at the terminal.
        """
        try:
            self._make_home()
            self._take_lock()
            self._binaries = choose_binaries(
                self.wanted, account=self.account, copies=self.home / "programs", data_version=self._data_version()
            )
            if not self.data.exists():
                self._make_data()
            self._wait_for_predecessor()
            self._launch_with_retries()
            addresses = self._provision()
        except OSError as exc:
            self.stop()
            raise of_os_error(exc, self.home) from exc
        except EmbeddedError:
            self.stop()
            raise
        threading.Thread(target=self._watch, name="postgresql watch", daemon=True).start()
        return addresses

    def stop(self) -> None:
        """End the server in order and give the folder free; harmless when nothing runs."""
        self._stopping.set()
        if self._process is not None:
            stop_child(self._process, STOP_STEPS)
            self._process = None
        if self._sockets is not None and self._sockets.parent != self.home:
            shutil.rmtree(self._sockets, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def describe(self, address: str) -> None:
        """Note who serves this folder and where, for the process that finds it taken."""
        if self._lock is not None:
            self._lock.seek(0)
            self._lock.truncate()
            json.dump({"pid": os.getpid(), "address": address}, self._lock)
            self._lock.flush()

    def _make_home(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.home.chmod(0o700 if self.account.uid is None else 0o711)
        closed = self.account.first_closed(self.home)
        if closed is not None:
            raise EmbeddedError(
                f"the account `{self.account.name}`, which runs PostgreSQL for root, may not enter {closed}: "
                "name another folder in OPENCLAW_ADMIN_POSTGRES_HOME"
            )

    def _take_lock(self) -> None:
        lock = (self.home / "lock").open("a+", encoding="utf-8")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise AlreadyRunsError(_who_runs(lock.read())) from None
        self._lock = lock
        self.describe("")

    def _data_version(self) -> int | None:
        try:
            return int((self.data / "PG_VERSION").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def _make_data(self) -> None:
        """Run initdb beside the final place, so that an interrupted one leaves nothing that looks finished."""
        assert self._binaries is not None  # noqa: S101 - chosen before
        draft = self.home / "data.draft"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        self.account.own(draft)
        passwords = self.home / "initdb.password"
        passwords.unlink(missing_ok=True)
        descriptor = os.open(passwords, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(self._password(roles.SUPERUSER))
        self.account.own(passwords)
        try:
            code, output = run_child(
                [self._binaries.folder / "initdb", "-D", draft, "-U", roles.SUPERUSER, f"--pwfile={passwords}",
                 "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--data-checksums",
                 *([] if self.is_durable else ["--no-sync"])],
                account=self.account, folder=draft, environment=self._binaries.environment, timeout_s=120,
            )  # fmt: skip
        finally:
            passwords.unlink()
        if code != 0:
            shutil.rmtree(draft, ignore_errors=True)
            raise of_server_log(output, self.home)
        draft.rename(self.data)

    def _password(self, role: str) -> str:
        """Read a role's generated password, a file of mode 0600 beside the data."""
        path = self.home / "passwords" / role
        try:
            return path.read_text()
        except FileNotFoundError:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            password = secrets.token_urlsafe(32)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(password)
            return password

    def _wait_for_predecessor(self) -> None:
        """Let the server of a killed parent end; forget the note of one that is long gone."""
        note = self.data / "postmaster.pid"
        deadline = time.monotonic() + PREDECESSOR_TIMEOUT_S
        while time.monotonic() < deadline:
            try:
                pid = int(note.read_text().split("\n", 1)[0])
                command = Path(f"/proc/{pid}/cmdline").read_bytes()
            except FileNotFoundError:
                break
            if str(self.data).encode() not in command:
                break  # the number belongs to another program by now
            time.sleep(0.1)
        else:
            raise EmbeddedError(f"a PostgreSQL of an earlier start still runs in {self.data}: end process {pid}")
        note.unlink(missing_ok=True)

    def _launch_with_retries(self) -> None:
        """Start the server; its port may be taken by another program between choice and use."""
        for left in (2, 1, 0):
            self._port = _free_port()
            try:
                self._launch()
            except EmbeddedError as exc:
                if left == 0 or "could not" not in str(exc):
                    raise
            else:
                return

    def _launch(self) -> None:
        assert self._binaries is not None  # noqa: S101 - chosen before
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(self._port),
            "unix_socket_directories": str(self._socket_folder()),
            "unix_socket_permissions": "0700",
            "max_connections": "200",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "password_encryption": "scram-sha-256",
        }
        if not self.is_durable:
            options |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        command: list[str | Path] = [self._binaries.folder / "postgres", "-D", self.data]
        for name, value in options.items():
            command += ["-c", f"{name}={value}"]
        with self._open_log() as log:
            before = log.tell()
            self._process = start_child(
                command, account=self.account, folder=self.data, output=log, environment=self._binaries.environment
            )
        self._wait_until_ready(before)

    def _open_log(self) -> IO[bytes]:
        """Open the server's log, which may say what statements held: it is its owner's alone."""
        path = self.log_path
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.parent.chmod(0o700)
        for earlier in (self.home / "postgresql.log", self.home / "postgresql.log.1"):  # everybody could read these
            if earlier.exists():
                earlier.rename(path.parent / earlier.name)
        if path.exists() and path.stat().st_size > LOG_LIMIT_BYTES:
            path.rename(path.with_suffix(".log.1"))
        for each in path.parent.iterdir():
            each.chmod(0o600)
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")

    def _wait_until_ready(self, log_offset: int) -> None:
        assert self._process is not None  # noqa: S101 - started before
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                self._process = None
                with self.log_path.open("rb") as log:
                    log.seek(log_offset)
                    raise of_server_log(log.read().decode(errors="replace"), self.home)
            try:
                self._connect("postgres").close()
            except psycopg.OperationalError:
                time.sleep(0.03)
            else:
                return
        raise EmbeddedError(f"PostgreSQL in {self.home} did not answer in {START_TIMEOUT_S:.0f} s: see {self.log_path}")

    def _socket_folder(self) -> Path:
        """Choose a folder that only the account may enter, with a path short enough for a socket."""
        if self._sockets is None:
            folder = self.home / "run"
            if len(os.fsencode(folder)) > SOCKET_PATH_LIMIT_BYTES:
                folder = Path(tempfile.mkdtemp(prefix="openclaw-"))
            folder.mkdir(mode=0o700, exist_ok=True)
            self.account.own(folder)
            self._sockets = folder
        return self._sockets

    def _connect(self, database: str) -> psycopg.Connection:
        return psycopg.connect(
            host=str(self._socket_folder()), port=self._port, dbname=database, user=roles.SUPERUSER,
            password=self._password(roles.SUPERUSER), connect_timeout=5, autocommit=True,
        )  # fmt: skip

    def _provision(self) -> Addresses:
        passwords = {role: self._password(role) for role in (roles.OWNER, roles.APPLICATION)}
        with self._connect("postgres") as connection:
            roles.make_roles(connection, passwords)
            roles.make_database(connection)
        with self._connect(roles.DATABASE) as connection:
            roles.close_public_schema(connection)
        where = f"/{roles.DATABASE}?host={quote(str(self._socket_folder()), safe='')}"
        urls = {
            role: f"postgresql://{role}:{quote(password)}@:{self._port}{where}" for role, password in passwords.items()
        }
        return Addresses(urls[roles.APPLICATION], urls[roles.OWNER], self._port)

    def _watch(self) -> None:
        """Start the server again when it dies under us; give up when it keeps dying."""
        deaths: list[float] = []
        while self._process is not None:
            self._process.wait()
            if self._stopping.is_set():
                return
            deaths = [at for at in deaths if time.monotonic() - at < RESTARTS_WITHIN_S] + [time.monotonic()]
            try:
                if len(deaths) > RESTARTS:
                    raise EmbeddedError("it keeps ending")
                self._relaunch()
            except (EmbeddedError, OSError):
                self.on_lost()
                return

    def _relaunch(self) -> None:
        """Start again on the same port; the dead server's workers may hold its memory for some seconds."""
        deadline = time.monotonic() + PREDECESSOR_TIMEOUT_S
        while True:
            try:
                self._launch()
            except EmbeddedError:
                if time.monotonic() > deadline or self._stopping.is_set():
                    raise
                time.sleep(0.2)
            else:
                break
        if self._stopping.is_set() and self._process is not None:
            stop_child(self._process, STOP_STEPS)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _who_runs(note: str) -> str:
    try:
        holder = json.loads(note)
        where = f" on {holder['address']}" if holder["address"] else ""
        return f"OpenClaw Admin already runs here{where}: process {holder['pid']}"
    except (ValueError, KeyError, TypeError):
        return "OpenClaw Admin already runs here"
