"""The one writer of a process: gathers waiting entries, links them into its chain, commits them together.

Callers hand in sealed entries and wait. While one batch is on its way to the disk the next one gathers, so that a
slow disk makes batches larger and callers slower, and nothing is ever dropped. A waiter is released when its batch is
committed, or told that it is not.

What the last commit left is read from `audit_boot`, whose row moves in the same transaction as the entries: after a
lost connection the writer asks it whether the batch arrived, so that no entry is missing or stored twice.
"""

import itertools
import os
import queue
import secrets
import socket
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
import structlog
from django.conf import settings
from django.db import connections

from apps.audit.chain import entry_hash, genesis
from apps.audit.drafts import EntryDraft, EntryKind, EntryReceipt
from apps.audit.errors import AuditUnavailableError
from apps.audit.sealing import SealedEntry, seal_entry
from apps.audit.storing import LEASE_S, store
from apps.firewall.identifiers import new_id

log = structlog.get_logger(__name__)

BATCH_ENTRIES = 2_000
BATCH_BYTES = 8 * 1024 * 1024
HEARTBEAT_S = 4.0
TRIAL_BYTES, TRIAL_AFTER_REFUSAL_BYTES = 1_000, 64 * 1024
STATEMENT_TIMEOUT_MS = 15_000
OURS = ("cursor_factory", "context", "prepare_threshold", "options")

OPEN_BOOT = """
INSERT INTO audit_boot (id, host, pid, version, started_at, lease_until, seq, head)
VALUES (%s, %s, %s, %s, clock_timestamp(), clock_timestamp() + make_interval(secs => %s), 0, %s)
"""
BEAT = """
UPDATE audit_boot SET lease_until = clock_timestamp() + make_interval(secs => %s) WHERE id = %s AND ended_at IS NULL
"""
END_BOOT = "UPDATE audit_boot SET ended_at = clock_timestamp() WHERE id = %s AND ended_at IS NULL"

# Errors that one entry causes: its batch is divided until it stands alone.
OF_ONE_ENTRY = (psycopg.DataError, psycopg.IntegrityError, psycopg.errors.ProgramLimitExceeded)


class _FencedError(Exception):
    """The boot was declared dead by a sweeper: its chain is closed."""


@dataclass(slots=True)
class _Waiting:
    entries: tuple[SealedEntry, ...]
    future: "Future[tuple[EntryReceipt, ...]]"
    since: float


@dataclass(frozen=True, slots=True)
class Pressure:
    """How the disk keeps up: who waits for it, since when, and how long it took last."""

    waiting: int
    oldest_s: float
    commit_ms: int


@dataclass(slots=True)
class _AskBoot:
    future: "Future[UUID]"


@dataclass(slots=True)
class _AskTrial:
    future: "Future[None]"


@dataclass(frozen=True, slots=True)
class _Head:
    chain_id: UUID
    seq: int
    hash: bytes


class Writer:
    """One chain, one thread, one connection. Thread-safe; after a fork the child needs its own."""

    def __init__(self, *, alias: str = "default") -> None:
        self.pid = os.getpid()
        self._alias = alias
        self._queue: queue.SimpleQueue[_Waiting | _AskBoot | _AskTrial | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._is_closed = False
        self._connection: psycopg.Connection[Any] | None = None
        self._head: _Head | None = None
        self._is_head_doubtful = False
        self._beat_at = 0.0
        self._storing: list[_Waiting] = []
        self._commit_s = 0.0
        self._has_refused = False
        self._thread = threading.Thread(target=self._run, name="audit writer", daemon=True)
        self._thread.start()

    @property
    def boot_id(self) -> UUID | None:
        """The boot whose lease this writer holds; None before the first entry."""
        head = self._head
        return None if head is None else head.chain_id

    def ask_boot(self) -> "Future[UUID]":
        """Ask for the boot whose lease this writer holds, opening it when there is none yet."""
        future: Future[UUID] = Future()
        self._put(_AskBoot(future))
        return future

    def ask_trial(self) -> "Future[None]":
        """Ask whether an entry could be stored now: one is written and taken back.

        After a refusal it is as large as what a call can leave, so that a disk with a little room counts as full.
        """
        future: Future[None] = Future()
        self._put(_AskTrial(future))
        return future

    @property
    def pressure(self) -> Pressure:
        """How many wait to be told that their entries are on disk, how long the first of them, and the last commit."""
        storing = self._storing
        oldest_s = time.monotonic() - storing[0].since if storing else 0.0
        return Pressure(self._queue.qsize() + len(storing), oldest_s, round(self._commit_s * 1000))

    def submit(self, *entries: SealedEntry) -> "Future[tuple[EntryReceipt, ...]]":
        """Queue entries that belong together; the future ends when all are on disk, or with AuditUnavailableError."""
        future: Future[tuple[EntryReceipt, ...]] = Future()
        self._put(_Waiting(entries, future, time.monotonic()))
        return future

    def close(self) -> None:
        """Store what waits, end the boot and its lease, close the connection. May be called twice."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._queue.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=STATEMENT_TIMEOUT_MS / 1000 * 2)

    def _put(self, item: _Waiting | _AskBoot | _AskTrial) -> None:
        with self._lock:
            if self._is_closed:
                raise AuditUnavailableError("the audit ledger is closed: the process is ending")
            self._queue.put(item)

    def _run(self) -> None:
        is_open = True
        while is_open:
            batch, is_open = self._gather()
            if batch:
                self._storing = batch
                self._store(batch)
                self._storing = []
            if time.monotonic() - self._beat_at >= HEARTBEAT_S:
                self._beat()
        self._end()

    def _gather(self) -> tuple[list[_Waiting], bool]:
        batch: list[_Waiting] = []
        count = size = 0
        try:
            item = self._queue.get(timeout=HEARTBEAT_S)
            while item is not None:
                if isinstance(item, _AskBoot):
                    self._answer_boot(item)
                elif isinstance(item, _AskTrial):
                    self._answer_trial(item)
                # A caller that gave up before its batch was formed is not recorded; later it cannot be recalled.
                elif item.future.set_running_or_notify_cancel():
                    batch.append(item)
                    count += len(item.entries)
                    size += sum(entry.size_bytes for entry in item.entries)
                if count >= BATCH_ENTRIES or size >= BATCH_BYTES:
                    return batch, True
                item = self._queue.get_nowait()
        except queue.Empty:
            return batch, True
        return batch, False

    def _answer_boot(self, item: _AskBoot) -> None:
        if not item.future.set_running_or_notify_cancel():
            return
        try:
            item.future.set_result(self._ready().chain_id)
        except (psycopg.Error, OSError) as exc:
            self._disconnect()
            item.future.set_exception(_unavailable(exc))

    def _answer_trial(self, item: _AskTrial) -> None:
        if not item.future.set_running_or_notify_cancel():
            return
        try:
            self._try()
        except Exception as exc:  # noqa: BLE001 - whatever it is, a trial must not end the writer
            self._disconnect()
            item.future.set_exception(_unavailable(exc))
        else:
            self._has_refused = False
            item.future.set_result(None)

    def _try(self) -> None:
        size = TRIAL_AFTER_REFUSAL_BYTES if self._has_refused else TRIAL_BYTES
        sealed = seal_entry(EntryDraft(kind=EntryKind.VERIFICATION, params={"trial": secrets.token_hex(size // 2)}))
        head = self._ready()
        (receipt,) = _link(head, [sealed])
        row, content = (*sealed.row, receipt.chain_id, receipt.seq, head.hash, receipt.hash), sealed.content
        connection = self._connection
        assert connection is not None and content is not None  # noqa: S101 - _ready made it; it has params
        with connection.transaction(force_rollback=True):
            if not store(connection, [row], [content], chain_id=head.chain_id, seq=receipt.seq, head=receipt.hash):
                self._head = None
                raise _FencedError

    def _store(self, batch: list[_Waiting]) -> None:
        try:
            receipts = iter(self._commit([entry for item in batch for entry in item.entries]))
        except OF_ONE_ENTRY as exc:
            if len(batch) == 1:
                self._refuse(batch, exc)
                return
            middle = len(batch) // 2
            self._store(batch[:middle])
            self._store(batch[middle:])
        except Exception as exc:  # noqa: BLE001 - whatever it is, no waiter may hang and no call may run
            self._has_refused = True
            self._refuse(batch, exc)
        else:
            self._has_refused = False
            for item in batch:
                item.future.set_result(tuple(itertools.islice(receipts, len(item.entries))))

    def _refuse(self, batch: list[_Waiting], exc: Exception) -> None:
        log.error("audit.refused", entries=len(batch), error=type(exc).__name__)
        for item in batch:
            item.future.set_exception(_unavailable(exc))

    def _commit(self, entries: list[SealedEntry]) -> list[EntryReceipt]:
        """Store a batch, once more after a lost connection or a closed chain.

        Raises:
            psycopg.Error: the store refused it; nothing of it is stored.
        """
        for attempt in (1, 2):
            try:
                head = self._ready()
                receipts = _link(head, entries)
                after = _Head(head.chain_id, receipts[-1].seq, receipts[-1].hash)
                self._write(entries, receipts, head, after)
            except _FencedError:
                log.warning("audit.fenced", chain=str(head.chain_id))
                self._head = None
                if attempt == 2:
                    raise
            except psycopg.OperationalError:
                self._disconnect()
                if attempt == 2:
                    raise
            else:
                self._head = after
                return receipts
        raise AssertionError("unreachable")

    def _write(self, entries: list[SealedEntry], receipts: list[EntryReceipt], head: _Head, after: _Head) -> None:
        connection = self._connection
        assert connection is not None  # noqa: S101 - _ready made it
        began = time.monotonic()
        try:
            rows, previous = [], head.hash
            for entry, receipt in zip(entries, receipts, strict=True):
                rows.append((*entry.row, receipt.chain_id, receipt.seq, previous, receipt.hash))
                previous = receipt.hash
            contents = [entry.content for entry in entries if entry.content is not None]
            if not store(connection, rows, contents, chain_id=head.chain_id, seq=after.seq, head=after.hash):
                raise _FencedError
        except psycopg.OperationalError:
            # The commit may have arrived although its answer did not.
            if not self._has_arrived(head, after):
                raise
        self._beat_at = time.monotonic()
        self._commit_s = self._beat_at - began

    def _has_arrived(self, before: _Head, after: _Head) -> bool:
        self._disconnect()
        stored = self._ready()
        if stored == after:
            return True
        if stored != before:
            raise AuditUnavailableError("the chain in the database is not where this process left it")
        return False

    def _ready(self) -> _Head:
        """Give the head of the chain over a usable connection, opening a boot when there is none."""
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(**connection_parameters(self._alias), autocommit=True)
            self._is_head_doubtful = self._head is not None
        if self._head is not None and self._is_head_doubtful:
            self._head = self._stored_head(self._connection, self._head.chain_id)
        self._is_head_doubtful = False
        if self._head is None:
            self._head = self._open_boot(self._connection)
        return self._head

    def _stored_head(self, connection: psycopg.Connection[Any], chain_id: UUID) -> _Head | None:
        row = connection.execute("SELECT seq, head FROM audit_boot WHERE id = %s", (chain_id,)).fetchone()
        return None if row is None else _Head(chain_id, row[0], bytes(row[1]))

    def _open_boot(self, connection: psycopg.Connection[Any]) -> _Head:
        chain_id = new_id()
        head = _Head(chain_id, 0, genesis(chain_id))
        values = (chain_id, socket.gethostname(), self.pid, settings.VERSION, LEASE_S, head.hash)
        connection.execute(OPEN_BOOT, values)
        return head

    def _beat(self) -> None:
        self._beat_at = time.monotonic()
        if self._head is None:
            return
        try:
            head = self._ready()
            assert self._connection is not None  # noqa: S101 - _ready made it
            if self._connection.execute(BEAT, (LEASE_S, head.chain_id)).rowcount != 1:
                self._head = None
        except (psycopg.Error, OSError) as exc:
            log.warning("audit.heartbeat_failed", error=type(exc).__name__)
            self._disconnect()

    def _end(self) -> None:
        try:
            if self._head is not None and self._connection is not None and not self._connection.closed:
                self._connection.execute(END_BOOT, (self._head.chain_id,))
        except psycopg.Error as exc:
            log.warning("audit.end_failed", error=type(exc).__name__)  # the lease ends it
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def connection_parameters(alias: str) -> dict[str, Any]:
    """Give the writer its own way into the database of an alias, with limits, so that no caller waits for ever."""
    parameters = dict(connections[alias].get_connection_params())
    given = str(parameters.get("options") or "")
    for ours in OURS:
        parameters.pop(ours, None)
    limits = f"-c statement_timeout={STATEMENT_TIMEOUT_MS} -c synchronous_commit=on -c timezone=UTC"
    return parameters | {
        "options": f"{given} {limits}".strip(),
        "application_name": "openclaw_admin audit",
        "connect_timeout": 5,
        "tcp_user_timeout": STATEMENT_TIMEOUT_MS,
    }


def _unavailable(exc: Exception) -> AuditUnavailableError:
    cause = str(exc).strip().partition("\n")[0] or "no reason given"
    error = AuditUnavailableError(f"the audit ledger cannot store the entry: {cause}")
    error.__cause__ = exc
    return error


def _link(head: _Head, entries: list[SealedEntry]) -> list[EntryReceipt]:
    receipts = []
    previous = head.hash
    for seq, entry in enumerate(entries, head.seq + 1):
        previous = entry_hash(chain_id=head.chain_id, seq=seq, prev=previous, body=entry.body)
        receipts.append(EntryReceipt(id=entry.id, at=entry.at, chain_id=head.chain_id, seq=seq, hash=previous))
    return receipts


_current: Writer | None = None
_current_lock = threading.Lock()
_of_parents: list[Writer] = []  # a child that closed its parent's connection would close it for the parent too


def writer() -> Writer:
    """Give the writer of this process, starting it at first use and after a fork or `close_writer`."""
    global _current
    current = _current
    if current is not None and not current._is_closed:
        return current
    with _current_lock:
        if _current is None or _current._is_closed:
            _current = Writer()
        return _current


def close_writer() -> None:
    """Close the writer of this process, when there is one; the next entry starts another."""
    current = _current
    if current is not None:
        current.close()


def _after_fork() -> None:
    global _current, _current_lock
    if _current is not None:
        _of_parents.append(_current)
    _current = None
    _current_lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
