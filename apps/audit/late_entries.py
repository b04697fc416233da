"""Ends of calls that the ledger did not take: kept in this process, and stored when it answers again.

A call that ran has run, whatever the ledger says. Its end is kept here, masked and sealed as it was, so that the record
goes on by itself after a full disk or a database that was away. What a process keeps is bounded and dies with it: the
sweep then gives the call its `unknown`.
"""

import threading
from collections import deque
from typing import Final

import structlog
from django.db import connection, transaction

from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.models import Entry
from apps.audit.sealing import SealedEntry, seal_entry
from apps.audit.writer import writer

log = structlog.get_logger(__name__)

LIMIT: Final = 2_000
LIMIT_BYTES: Final = 64 * 1024 * 1024
DENIALS_SHARE: Final = 0.5
"""What refused calls may take of the room: they can be many, and calls that ran come first."""
WAIT_S: Final = 45.0
ENDS: Final = (EntryKind.CALL_OUTCOME, EntryKind.DENIAL)


class LateEntries:
    """What one process keeps, oldest first. Thread-safe."""

    def __init__(self) -> None:
        self._kept: deque[tuple[EntryDraft, SealedEntry]] = deque()
        self._bytes = 0
        self._lock = threading.Lock()
        self._storing = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, draft: EntryDraft) -> bool:
        """Keep the end of a call as it is now; say whether there was room."""
        sealed = seal_entry(draft)
        share = 1 if draft.kind == EntryKind.CALL_OUTCOME else DENIALS_SHARE
        with self._lock:
            if len(self._kept) >= LIMIT * share or self._bytes + sealed.size_bytes > LIMIT_BYTES * share:
                log.error("audit.late_entry_dropped", call=str(draft.call_id), kept=len(self._kept))
                return False
            self._kept.append((draft, sealed))
            self._bytes += sealed.size_bytes
        return True

    def store(self) -> int:
        """Store what is kept, oldest first, each once; harmless to repeat.

        Returns:
            How many were stored.
        Raises:
            AuditUnavailableError, DatabaseError: the ledger does not take them yet; the rest stays kept.
        """
        stored = 0
        with self._storing:
            while self._kept:
                draft, sealed = self._kept[0]
                stored += _stored(draft, sealed)
                with self._lock:
                    self._kept.popleft()
                    self._bytes -= sealed.size_bytes
        if stored:
            log.info("audit.late_entries_stored", entries=stored)
        return stored


def _stored(draft: EntryDraft, sealed: SealedEntry) -> bool:
    """Store an entry unless its call has an end: a sweep may have given it one meanwhile, and none comes between."""
    with transaction.atomic(), connection.cursor() as cursor:
        intent = Entry.objects.filter(call_id=draft.call_id, kind=EntryKind.CALL_INTENT).order_by("-at").first()
        if intent is not None:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"audit sweep {intent.chain_id}"])
        if Entry.objects.filter(call_id=draft.call_id, kind__in=ENDS).exists():
            return False
        writer().submit(sealed).result(timeout=WAIT_S)
    return True


late_entries: Final = LateEntries()
