"""Whether the process is up (`/healthz`) and whether it can do its work (`/readyz`)."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import TimeoutError as FutureTimeoutError

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from apps.audit.errors import AuditUnavailableError
from apps.audit.services import boot_id
from apps.audit.streaming.streams import streams_shown
from apps.audit.writer import writer as audit_writer
from apps.firewall.sandbox.levels import offer
from apps.gateway.doors import unrecorded
from apps.gateway.lifecycle import gateway
from apps.policies.selectors import live_publication
from apps.registry.selectors import environments
from openclaw_admin import __version__
from openclaw_admin.lifespan import process
from openclaw_admin.requests import Receive, Scope, Send, send_json

TIMEOUT_S = 5.0
WRITER_LATE_S = 10.0
TRIAL_EVERY_S, TRIAL_TIMEOUT_S = 2.0, 3.0


class NotReadyError(Exception):
    """A part that cannot do its work; the message says what is missing."""


def database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return "answers"


def migrations() -> str:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        raise NotReadyError(f"{len(missing)} migrations are not applied")
    return "applied"


def listener() -> str:
    if not process.listener.is_connected:
        raise NotReadyError("notices of other processes do not arrive")
    return "listens"


def writer() -> str:
    """Say how the disk keeps up; not ready where entries wait so long that their callers give up soon."""
    boot_id()
    now = audit_writer().pressure
    state = f"{now.waiting} wait, the first for {now.oldest_s:.1f} s, the last commit took {now.commit_ms} ms"
    if now.oldest_s > WRITER_LATE_S:
        raise NotReadyError(state)
    if not now.waiting:
        trial.make()
    return f"writes: {state}"


class _Trial:
    """Whether the ledger takes an entry, asked at most every `TRIAL_EVERY_S`, whoever asks how often."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made_at = -TRIAL_EVERY_S
        self._refusal = ""

    def make(self) -> None:
        with self._lock:
            if time.monotonic() - self._made_at >= TRIAL_EVERY_S:
                self._refusal = self._asked()
                self._made_at = time.monotonic()
        if self._refusal:
            raise NotReadyError(self._refusal)

    @staticmethod
    def _asked() -> str:
        try:
            audit_writer().ask_trial().result(TRIAL_TIMEOUT_S)
        except FutureTimeoutError:
            return f"the ledger did not take a trial entry within {TRIAL_TIMEOUT_S:.0f} s"
        except AuditUnavailableError as exc:  # its text may hold addresses
            return f"the ledger takes no entry: {type(exc.__cause__).__name__}"
        return ""


trial = _Trial()


def snapshot() -> str:
    shown = []
    for environment in environments():
        published = live_publication(environment)
        live = gateway().snapshots.live(environment.slug)
        if published is not None and (live is None or live.digest != published.snapshot_id):
            raise NotReadyError(f"{environment.slug}: what is published is not loaded")
        shown.append(f"{environment.slug} {live.digest[:12] if live else 'has nothing published'}")
    return ", ".join(shown) or "no environment yet"


def sandbox() -> str:
    """Say what holds tools; without it those that need it are refused, and all else works."""
    return str(offer())


def streams() -> str:
    """Say how far other systems are behind; that they are is no reason to take this process away from callers."""
    shown = streams_shown(timezone.now())
    behind, dead = sum(state.behind for state in shown), sum(state.dead for state in shown)
    return f"{len(shown)} streams, {behind} entries behind, {dead} refused" if shown else "none"


def coverage() -> str:
    """Say which doors let a call through that is not on record: an alarm, and no reason to take this process away."""
    missing = unrecorded()
    return f"ALARM: not recorded: {', '.join(missing)}" if missing else "no call is known to be missing on record"


PARTS: dict[str, Callable[[], str]] = {
    "database": database,
    "migrations": migrations,
    "writer": writer,
    "listener": listener,
    "snapshot": snapshot,
    "sandbox": sandbox,
    "streams": streams,
    "coverage": coverage,
}


def report() -> dict[str, dict[str, object]]:
    """Ask every part; return for each whether it is ready and one line that says so."""
    parts: dict[str, dict[str, object]] = {}
    try:
        for name, ask in PARTS.items():
            try:
                parts[name] = {"ready": True, "state": ask()}
            except NotReadyError as exc:
                parts[name] = {"ready": False, "state": str(exc)}
            except Exception as exc:  # noqa: BLE001 - any failure means not ready, and its text may hold addresses
                parts[name] = {"ready": False, "state": type(exc).__name__}
    finally:
        connection.close()
    return parts


async def healthz(scope: Scope, receive: Receive, send: Send) -> None:
    await send_json(send, 200, {"status": "ok", "version": __version__})


async def readyz(scope: Scope, receive: Receive, send: Send) -> None:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            parts = await asyncio.to_thread(report)
    except TimeoutError:
        parts = {"database": {"ready": False, "state": f"no answer in {TIMEOUT_S:.0f} s"}}
    is_ready = all(part["ready"] for part in parts.values())
    await send_json(send, 200 if is_ready else 503, {"ready": is_ready, "version": __version__, "parts": parts})
