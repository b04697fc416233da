"""`manage.py serve`: from a folder to a served product, and back to nothing running."""

import errno
import ipaddress
import os
import resource
import secrets
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn
from django.conf import settings
from django.db import transaction

from apps.audit.writer import close_writer
from apps.firewall.sandbox.levels import level_named, offer
from apps.firewall.sandbox.privacy import hide_process
from apps.keys.files import secret_bytes
from openclaw_admin import database
from openclaw_admin.broker import check_broker
from openclaw_admin.connections import PROTOCOLS
from openclaw_admin.database_url import database_settings
from openclaw_admin.embedded.errors import EmbeddedError
from openclaw_admin.embedded.postgres import Postgres

GRACE_S = 5
BACKLOG = 512
OPEN_FILES = 65_536
HIGHEST_PORT = 65535
ROOTS_FOLDER = Path("/var/lib/openclaw-admin")


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    host: str
    port: int
    with_demo: bool
    with_background: bool
    with_prepare: bool


def serve(options: Options, write: Callable[[str], object]) -> None:
    """Start what is missing, serve until a signal comes, end everything that was started.

    Raises:
        EmbeddedError: it cannot be served; the message is one sentence.
    """
    signal.signal(signal.SIGTERM, _end)
    # A shell that starts us with `&` has SIGINT ignored; uvicorn hears it later on, so it must count from the start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    hide_process()
    check_broker()
    with ExitStack() as stack:
        listening = stack.enter_context(bind(options.host, options.port))
        address = f"http://{_shown(options.host)}:{options.port}"
        if settings.IS_DATABASE_EMBEDDED:
            stack.callback(start_database(address, write))
        if options.with_prepare:
            database.prepare(write)
            first_people(options, write)
            first_policy(options, write)
        else:
            with database.one_sentence():
                database.check_version()
        stack.callback(note("address", address))
        if not settings.IS_PUBLIC_URL_GIVEN:
            settings.PUBLIC_URL = address
            settings.CSRF_TRUSTED_ORIGINS = [address]
        if options.with_background:
            stack.callback(start_background())
        missing = offer().lacks(level_named(settings.SANDBOX_LEVEL))
        if missing:
            write(f"confined tools do not run, for the level `{settings.SANDBOX_LEVEL}` is not to be had: {missing}")
        write(f"OpenClaw Admin {settings.VERSION} serves {address}  (Ctrl-C ends it)")
        run_server(listening)
        write("stopping")


def bind(host: str, port: int) -> socket.socket:
    """Take the port before anything is started."""
    if not 0 <= port <= HIGHEST_PORT:  # the system would take the number modulo 65536
        raise EmbeddedError(f"port {port} is outside 0 to {HIGHEST_PORT}")
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(where)
            listening.listen(BACKLOG)
        except OSError:
            listening.close()
            raise
    except OSError as exc:
        hint = ": stop the program that uses it, or choose another with --port (make run PORT=8001)"
        reason = f"is taken{hint}" if exc.errno == errno.EADDRINUSE else f"cannot be used: {exc.strerror}"
        raise EmbeddedError(f"port {port} of {host} {reason}") from exc
    listening.set_inheritable(False)
    return listening


def postgres_home() -> Path:
    """Choose the folder of the embedded PostgreSQL: as root outside the project, where a lowered user may go."""
    if settings.POSTGRES_HOME:
        return Path(settings.POSTGRES_HOME)
    if os.geteuid() != 0:
        return Path(settings.VAR_DIR) / "postgres"
    name = secret_bytes(settings.VAR_DIR / "installation", lambda: secrets.token_hex(4).encode()).decode()
    return ROOTS_FOLDER / name


def start_database(address: str, write: Callable[[str], object]) -> Callable[[], None]:
    """Start the embedded PostgreSQL and point this process at it; return what ends it."""
    home = postgres_home()
    server = Postgres(
        home,
        wanted=settings.POSTGRES_WANTED,
        on_lost=lambda: os.kill(os.getpid(), signal.SIGTERM),
    )
    addresses = server.start()
    server.describe(address)
    forget = [note("database_url", addresses.url), note("database_owner_url", addresses.owner_url)]
    for alias, url in (("default", addresses.url), ("owner", addresses.owner_url)):
        settings.DATABASES[alias].update(database_settings(url))  # no connection was made before this line
    settings.RECORDS_FOLDERS = [settings.VAR_DIR, home]
    settings.RESERVE_FILE = home.with_name(f"{home.name}.reserve")
    write(f"PostgreSQL {server.version} ({server.kind}) in {home}")

    def stop() -> None:
        for each in forget:
            each()
        server.stop()

    return stop


@contextmanager
def database_at_hand(write: Callable[[str], object]) -> Iterator[None]:
    """Have the installation's database run for one command: the one of a running `serve`, or started for it."""
    with ExitStack() as stack:
        if settings.IS_DATABASE_EMBEDDED and not (settings.NOTES_DIR / "database_url").exists():
            stack.callback(start_database("", write))
            stack.callback(close_writer)
        yield


def note(name: str, text: str) -> Callable[[], None]:
    """Write a file of mode 0600, where other commands of this installation find it; return what removes it."""
    path = settings.NOTES_DIR / name
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    return lambda: path.unlink(missing_ok=True)


def start_background() -> Callable[[], None]:
    from openclaw_admin.background import Background

    background = Background()
    background.start()
    return background.stop


def run_server(listening: socket.socket) -> None:
    """Answer requests until SIGINT or SIGTERM."""
    config = uvicorn.Config(
        "openclaw_admin.asgi:application",
        lifespan="on",
        access_log=False,
        proxy_headers=bool(settings.TRUSTED_PROXIES),
        forwarded_allow_ips=settings.TRUSTED_PROXIES,
        log_config=None,
        server_header=False,
        **PROTOCOLS,
        timeout_graceful_shutdown=GRACE_S,
        ws_max_size=64 * 1024,
        ws_per_message_deflate=False,  # events are short: squeezing each for each socket costs more than it saves
    )
    server = uvicorn.Server(config)
    allow_open_files()
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        return
    if not server.started:
        raise EmbeddedError("the server did not start: the log above says why")


def allow_open_files() -> None:
    """Take the open files that the system lets this process have: each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def first_people(options: Options, write: Callable[[str], object]) -> None:
    """On an empty database, make one person for each role and show their passwords, to this machine's terminal only."""
    from apps.accounts.services import people_first

    if not is_loopback(options.host):
        return
    with database.one_sentence():
        passwords = people_first()
    if passwords:
        write("first sign-ins; the passwords are shown this once:")
    for username, password in passwords.items():
        write(f"    {username:<10} {password}")


def first_policy(options: Options, write: Callable[[str], object]) -> None:
    """While nothing is published: load the demo when asked, else say what the start page offers."""
    from apps.policies.errors import DraftNotEmptyError
    from apps.policies.selectors import live_publication
    from apps.policies.services.demo import demo_import
    from apps.policies.services.publishing import publish
    from apps.registry.services import environment_default

    with database.one_sentence():
        environment = environment_default()
        if live_publication(environment) is not None:
            return
        if not options.with_demo:
            write("nothing is published yet: the start page imports an openclaw.json, a demo, or begins empty")
            return
        try:
            with transaction.atomic():
                demo_import(environment, by=None)
                publish(environment, by=None, message="the demo that ships with OpenClaw Admin", expected_live=None)
        except DraftNotEmptyError as exc:
            write(exc.message)
            return
    write("the demo is imported and published")


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(host: str) -> str:
    if host in {"0.0.0.0", "::"}:  # noqa: S104 - every address: this machine's own is one of them
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _end(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(0)
